"""Mail hosts that many new domains use, found in the request log, and what staff make of them."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.engine import get_engine
from accounts.models import Account, AuditEntry, User
from tests.accounts.staff.staff_pages import client_in_group, front_page, panel_text
from tests.conftest import signed_in
from tests.servers.dns import FakeDns
from validation.domain_data import staff_domains
from validation.domain_data.new_mail_hosts import find_new_mail_hosts
from validation.models import LogEntry, NewMailHost

pytestmark = pytest.mark.django_db

CHANGELIST = "/admin/validation/newmailhost/"
LONG_AGO = timedelta(days=9)


@pytest.fixture(autouse=True)
def _turned_on(settings: Settings) -> Iterator[None]:
    settings.FIND_MAIL_HOSTS = True
    staff_domains.invalidate()
    yield
    staff_domains.invalidate()


def log(
    account: Account, *domains: str, ago: timedelta = timedelta(hours=1), **options: Any
) -> None:
    for domain in domains:
        LogEntry.objects.create(
            account=account,
            at=timezone.now() - ago,
            request_id="req_1",
            status=200,
            path="/v1/validate",
            duration_ms=9,
            domain=domain,
            **{"verdict": "deliverable", **options},
        )


@pytest.fixture
def burners(account: Account, fake_dns: FakeDns) -> list[str]:
    """Log 20 new domains with one mail host, and older requests."""
    log(account, "shop.com", ago=LONG_AGO)
    domains = [f"burner-{number}.com" for number in range(20)]
    for domain in domains:
        fake_dns.add_mail_domain(domain, host="mx1.mx-burner.net")
    log(account, *domains)
    return domains


def decide(browser: Client, host: str, action: str) -> None:
    row = NewMailHost.objects.get(host=host)
    browser.post(CHANGELIST, {"action": action, "_selected_action": [str(row.pk)]})


def is_disposable(domain: str) -> bool:
    staff_domains.invalidate()
    return bool(get_engine().check(f"jane@{domain}").checks["disposable"])


def test_staff_see_a_mail_host_of_20_new_domains_and_decide(
    burners: list[str], staff: User, fake_dns: FakeDns
) -> None:
    find_new_mail_hosts()
    browser = signed_in(staff)
    text = panel_text(front_page(browser), "New mail hosts")
    assert "mx-burner.net 20 burner-0.com, burner-1.com" in text
    assert not is_disposable(burners[0])
    decide(browser, "mx-burner.net", "decide_disposable")
    assert is_disposable(burners[0])
    fake_dns.add_mail_domain("burner-of-tomorrow.com", host="mx2.mx-burner.net")
    assert is_disposable("burner-of-tomorrow.com")
    assert "New mail hosts</h2>" not in front_page(browser)
    assert AuditEntry.objects.latest("pk").target == "mx-burner.net: Disposable"
    decide(browser, "mx-burner.net", "decide_legitimate")
    assert not is_disposable(burners[0])


def test_well_known_domain_stays_legitimate_on_a_disposable_mail_host(fake_dns: FakeDns) -> None:
    NewMailHost.objects.create(host="mx-burner.net", decision="disposable")
    for domain in ("gmx.de", "burner.com"):
        fake_dns.add_mail_domain(domain, host="mx.mx-burner.net")
    assert is_disposable("burner.com")
    assert not is_disposable("gmx.de")


@pytest.mark.parametrize(
    ("host", "options"),
    [
        ("aspmx.l.google.com", {}),
        ("mx.{domain}", {}),
        ("mx.mx-burner.net", {"ago": LONG_AGO}),
        ("mx.mx-burner.net", {"verdict": "undeliverable"}),
        ("mx.mx-burner.net", {"sandbox": True}),
    ],
)
def test_other_mail_hosts_are_not_shown(
    account: Account, fake_dns: FakeDns, host: str, options: dict[str, Any]
) -> None:
    log(account, "shop.com", ago=LONG_AGO)
    domains = [f"shop-{number}.com" for number in range(20)]
    for domain in domains:
        fake_dns.add_mail_domain(domain, host=host.format(domain=domain))
    log(account, *domains, **options)
    find_new_mail_hosts()
    assert not NewMailHost.objects.exists()


def test_domain_is_looked_up_once_and_forgotten(burners: list[str], fake_dns: FakeDns) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=1), tick=True):
        find_new_mail_hosts()
        sent = len(fake_dns.queries)
        find_new_mail_hosts()
        assert len(fake_dns.queries) == sent
        assert NewMailHost.objects.get().number == 20
        NewMailHost.objects.create(host="kept.net", decision="legitimate")
    with time_machine.travel(timezone.now() + timedelta(days=20), tick=True):
        find_new_mail_hosts()
        assert [row.host for row in NewMailHost.objects.all()] == ["kept.net"]


def test_nothing_is_new_in_a_log_that_just_began(account: Account, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("burner.com", host="mx.mx-burner.net")
    log(account, "burner.com")
    find_new_mail_hosts()
    assert not NewMailHost.objects.exists()


def test_nothing_is_looked_up_unless_the_operator_wants_it(
    burners: list[str], settings: Settings, fake_dns: FakeDns
) -> None:
    settings.FIND_MAIL_HOSTS = False
    sent = len(fake_dns.queries)
    find_new_mail_hosts()
    assert len(fake_dns.queries) == sent


def test_only_support_decides(burners: list[str]) -> None:
    find_new_mail_hosts()
    decide(client_in_group("Finance"), "mx-burner.net", "decide_disposable")
    assert NewMailHost.objects.get().decision == "open"
    decide(client_in_group("Support"), "mx-burner.net", "decide_disposable")
    assert NewMailHost.objects.get().decision == "disposable"
