"""What an account's own domains change in results, wherever addresses are validated."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, User
from engine.verdicts.finding import Finding
from engine.verdicts.reasons import Verdict
from lists.packing import unpack_results
from tests.conftest import signed_in
from tests.lists.factory import make_started_list
from tests.lists.runs import work
from tests.servers.dns import FakeDns
from tests.support.api_client import ApiClient
from validation.account_domains import matching
from validation.models import LogEntry
from validation.presenters.requests import response_data

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# Those are the customer's to decide about.
DECIDED = ("accept_for_signup", "safe_to_send", "account_list")
VOLATILE = ("id", "created_at", "duration_ms", "dns_cached", "credits")


@pytest.fixture(autouse=True)
def shop(fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.add_mail_domain("eu.mail.shop.com")
    fake_dns.add_mail_domain("mailinator.com")


def put(caller: ApiClient, *, allowed: tuple[str, ...] = (), denied: tuple[str, ...] = ()) -> None:
    lists = {"allowed": allowed, "denied": denied}
    assert caller.send_json("PUT", "/v1/domains", lists).status_code == 200


def decided(result: dict[str, Any]) -> tuple[object, ...]:
    return tuple(result[name] for name in DECIDED)


def test_allowed_domain_is_accepted_despite_its_risk(caller: ApiClient) -> None:
    assert caller.validate("jane@mailinator.com").json()["accept_for_signup"] is False
    put(caller, allowed=("mailinator.com",))
    result = caller.validate("jane@mailinator.com").json()
    assert (result["verdict"], result["reason"]) == ("risky", "disposable")
    assert decided(result) == (True, False, "allowed")


def test_everything_else_in_the_result_stays_the_same(caller: ApiClient) -> None:
    def facts() -> dict[str, Any]:
        result = caller.validate("Jane+x@shop.com").json()
        return {name: result[name] for name in result if name not in (*DECIDED, *VOLATILE)}

    before = facts()
    put(caller, denied=("shop.com",))
    assert facts() == before
    assert caller.validate("jane@shop.com").json()["credits"] == {
        "charged": 1,
        "held": 0,
        "remaining": 97,
    }


def test_entry_covers_its_subdomains_in_any_spelling(caller: ApiClient) -> None:
    put(caller, denied=("shop.com", "bücher.example"))
    for domain, found in {
        "shop.com": "denied",
        "SHOP.COM": "denied",
        "eu.mail.shop.com": "denied",
        "workshop.com": None,
        "shop.com.example": None,
        "bücher.example": "denied",
        "xn--bcher-kva.example": "denied",
    }.items():
        assert caller.validate(f"jane@{domain}").json()["account_list"] == found, domain


def test_denied_wins_over_allowed(caller: ApiClient) -> None:
    for allowed, denied in (
        *(("shop.com", "shop.com"), ("shop.com", "mail.shop.com")),
        ("eu.mail.shop.com", "shop.com"),
    ):
        put(caller, allowed=(allowed,), denied=(denied,))
        assert caller.validate("jane@eu.mail.shop.com").json()["account_list"] == "denied"


def test_sandbox_ignores_the_lists(caller: ApiClient) -> None:
    emails = [f"{word}@sandbox.test" for word in ("deliverable", "disposable", "any-other-word")]
    before = [decided(caller.validate(email).json()) for email in emails]
    put(caller, denied=("sandbox.test",))
    assert [decided(caller.validate(email).json()) for email in emails] == before


def test_batch_has_the_list_in_each_result(caller: ApiClient) -> None:
    put(caller, allowed=("mailinator.com",), denied=("shop.com",))
    emails = ["a@shop.com", "b@mailinator.com", "no address", "deliverable@sandbox.test"]
    results = caller.validate_batch([*emails, "a@shop.com"]).json()["results"]
    lists = ["denied", "allowed", None, None, "denied"]
    assert [result["account_list"] for result in results] == lists
    assert results[0]["accept_for_signup"] is False


def test_playground_shows_the_list_and_the_landing_page_has_none(
    caller: ApiClient, owner: User
) -> None:
    put(caller, denied=("shop.com",))
    page = signed_in(owner).post("/validation/playground/", {"email": "jane@shop.com"})
    assert page.context["response"].document["account_list"] == "denied"
    assert "Denied by your own domains: reject the address." in page.content.decode()
    page = Client().post("/reference/try/", {"email": "jane@shop.com"})
    assert page.context["finding"].account_list is None


def test_chunk_of_a_list_uses_the_domains_of_its_time(caller: ApiClient, account: Account) -> None:
    address_list = make_started_list(account, ["a@shop.com", "deliverable@sandbox.test"])
    put(caller, denied=("shop.com", "sandbox.test"))
    work()
    (chunk,) = address_list.chunks.all()
    put(caller)
    first, sandbox = unpack_results(bytes(chunk.results))
    assert decided(first) == (False, False, "denied")
    assert sandbox["account_list"] is None


@pytest.mark.parametrize("key", ["", "order-1"])
def test_request_log_keeps_the_list_of_its_time(
    caller: ApiClient, account: Account, owner: User, key: str
) -> None:
    put(caller, denied=("shop.com",))
    headers = {"Idempotency_Key": key} if key else {}
    caller.validate("jane@shop.com", **headers)
    if key:
        caller.validate("jane@shop.com", **headers)
    put(caller)
    caller.validate("jane@shop.com")
    *denied, last = LogEntry.objects.filter(account=account, domain="shop.com").order_by("pk")
    assert [response_data(entry)["account_list"] for entry in denied] == ["denied"] * len(denied)
    assert response_data(last)["account_list"] is None
    browser, note = signed_in(owner), "Denied by your own domains: reject the address."
    for entry in denied:
        assert note in browser.get(entry.get_absolute_url()).content.decode()
    assert note not in browser.get(last.get_absolute_url()).content.decode()


@pytest.mark.parametrize("reason", ["domain_accepts_mail", "disposable", "no_mail_server", "?"])
def test_allowed_accepts_all_but_undeliverable(reason: str) -> None:
    reason = "dns_timeout" if reason == "?" else reason
    finding = Finding("jane@shop.com", (reason,), "dns", account_list="allowed")
    assert finding.accept_for_signup is (finding.verdict != Verdict.UNDELIVERABLE)


def test_lists_are_read_once_for_all_calls(
    caller: ApiClient, account: Account, django_assert_num_queries: Any
) -> None:
    put(caller, denied=("shop.com",))
    account.refresh_from_db()
    matching.domains_of(account)
    with django_assert_num_queries(0):
        assert matching.domains_of(account).denied == {"shop.com"}


def test_cache_keeps_a_limited_number_of_entries(
    caller: ApiClient, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "MAX_CACHED_ENTRIES", 2)
    matching._cache.clear()
    for number in (1, 2, 3):
        put(caller, denied=tuple(f"{n}.example" for n in range(number)))
        account.refresh_from_db()
        assert len(matching.domains_of(account).denied) == number
        assert (account.pk in matching._cache) is (number <= 2)
