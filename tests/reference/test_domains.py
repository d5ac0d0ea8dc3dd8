"""The public page about a domain, and its JSON."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from engine import DOMAIN_DATA
from engine.mailbox_rules import _RULES, judge_mailbox
from reference.domains import MAILBOX
from tests.servers.dns import FakeDns
from validation.domain_data import staff_domains
from validation.models import ListedDomain, LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.fixture(autouse=True)
def _fresh_limits() -> Iterator[None]:
    """Start a window of the limits, and read staff's domains again."""
    staff_domains.invalidate()
    with time_machine.travel(datetime(2026, 11, 23, 12, 0, tzinfo=UTC), tick=False):
        yield
    staff_domains.invalidate()


def look_up(domain: str, ip: str = "198.51.100.7") -> Any:
    return Client().get(f"/domains/{domain}", REMOTE_ADDR=ip)


def read(domain: str) -> str:
    response = look_up(domain)
    assert response.status_code == 200
    assert response.headers["X-Robots-Tag"] == "noindex"
    return " ".join(response.content.decode().split())


def test_page_says_whether_the_domain_accepts_mail_and_who_provides_it(fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("gmail.com", "gmail-smtp-in.l.google.com")
    page = read("gmail.com")
    assert "deliverable</span>" in page
    assert "The domain accepts mail." in page
    assert "gmail-smtp-in.l.google.com" in page
    assert "Anyone can open a mailbox there." in page
    assert 0 < fake_dns.messages <= 4
    assert not LogEntry.objects.exists()


def test_disposable_domain_is_explained_by_its_name(fake_dns: FakeDns) -> None:
    domain = min(DOMAIN_DATA.disposable)
    fake_dns.add_mail_domain(domain)
    assert "By name: the domain is in our lists of disposable domains of" in read(domain)


def test_disposable_domain_is_explained_by_its_mail_host(fake_dns: FakeDns) -> None:
    host = f"mx.{min(DOMAIN_DATA.disposable_hosts)}"
    fake_dns.add_mail_domain("fresh-shop.com", host)
    assert f"By mail host: {host} is in our list of mail hosts of" in read("fresh-shop.com")


@pytest.mark.parametrize(("kind", "verb"), [("deny", "listed"), ("allow", "cleared")])
def test_decision_of_staff_is_named_in_place_of_a_list(
    fake_dns: FakeDns, kind: str, verb: str
) -> None:
    fake_dns.add_mail_domain("shop.com")
    ListedDomain.objects.create(domain="shop.com", kind=kind, reason="A secret source")
    page = read("shop.com")
    assert f"Our support team {verb} it after a report." in page
    assert "A secret source" not in page


def test_typo_links_to_the_domain_that_was_meant(fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("gmial.com")
    fake_dns.add_mail_domain("gmail.com", "gmail-smtp-in.l.google.com")
    page = read("gmial.com")
    assert "Looks like a typo of gmail.com." in page
    assert '"/domains/gmail.com"' in page


def test_domain_that_does_not_exist_accepts_no_mail(fake_dns: FakeDns) -> None:
    page = read("no-such-shop.com")
    assert "undeliverable</span>" in page
    assert "The domain doesn&#x27;t exist." in page


def test_json_has_the_fields_of_a_result_that_concern_the_domain(fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("gmial.com", "mx.gmial.com")
    response = look_up("gmial.com.json")
    assert response.headers["X-Robots-Tag"] == "noindex"
    document = response.json()
    assert document["domain"] == "gmial.com"
    assert document["checks"]["accepts_mail"] is True
    assert document["checks"]["disposable"] is False
    assert document["did_you_mean"] == "gmail.com"
    assert document["mx"]["records"] == [{"preference": 10, "host": "mx.gmial.com"}]
    assert document["lists"] == {"disposable": DOMAIN_DATA.version, "disposable_by": None}
    assert "role_account" not in document["checks"]


def test_form_and_page_redirect_to_the_domain_in_its_usual_form(fake_dns: FakeDns) -> None:
    for typed, domain in {
        "Shop.COM": "shop.com",
        "bücher.de": "xn--bcher-kva.de",
        "jane@shop.com": "shop.com",
        " shop.com. ": "shop.com",
    }.items():
        from_form = Client().get("/domains/", {"domain": typed})
        assert from_form.headers["Location"] == f"/domains/{domain}"
        assert look_up(typed).headers["Location"] == f"/domains/{domain}"
    assert fake_dns.messages == 0


def test_what_is_no_domain_is_refused_before_any_dns_message(fake_dns: FakeDns) -> None:
    for typed in (
        *("%00", "no domain", "shop", "co.uk", "192.0.2.1", "a..com", f"{'a' * 64}.com"),
        *("x/y.com", "😀.com"),
    ):
        page = Client().get("/domains/", {"domain": typed})
        assert page.status_code == 400, typed
        assert b'id="domain-error"' in page.content
        if "/" not in typed:
            response = look_up(f"{typed}.json")
            error = response.json()["error"]
            assert (response.status_code, error["code"]) == (400, "invalid_field"), typed
            assert error["param"] == "domain"
    assert look_up(".".join(["a" * 60] * 4) + ".com").status_code == 400
    assert fake_dns.messages == 0


def test_lookups_share_the_limits_of_the_landing_page(fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    form = {"email": "risky@sandbox.test"}
    with time_machine.travel(datetime(2026, 11, 23, 13, 0, tzinfo=UTC), tick=False) as clock:
        for _ in range(3):
            clock.shift(1)
            assert look_up("shop.com").status_code == 200
            Client().post("/reference/try/", form, REMOTE_ADDR="198.51.100.7")
        clock.shift(1)
        sent = fake_dns.messages
        page, document = look_up("shop.com"), look_up("shop.com.json")
    assert (page.status_code, document.status_code) == (429, 429)
    assert page.headers["Retry-After"] == document.headers["Retry-After"] == "56"
    assert b"You can make 5 checks per minute here." in page.content
    assert document.json()["error"]["code"] == "rate_limit_exceeded"
    assert fake_dns.messages == sent


def test_no_provider_excludes_the_mailbox_with_which_domains_are_checked() -> None:
    assert _RULES
    excluded = [domain for domain in _RULES if judge_mailbox(MAILBOX, MAILBOX, domain)]
    assert excluded == []
    assert not DOMAIN_DATA.is_role_account(MAILBOX)
    assert not DOMAIN_DATA.is_no_reply(MAILBOX)


def test_form_has_a_page_of_its_own_that_names_the_support_address() -> None:
    response = Client().get("/domains/")
    assert "X-Robots-Tag" not in response.headers
    assert b"mailto:support@" in response.content
