"""The form on the landing page: what visitors get, their limits, and what is stored of it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import caches
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from apikeys.throttling import limits
from credits.models import UseHour
from engine.syntax.errors import SYNTAX_MESSAGES
from tests.conftest import signed_in
from tests.servers.dns import FakeDns
from tests.support.api_client import ApiClient
from tests.support.log_records import LogCapture
from tests.support.metrics import Increases
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/reference/try/"
SANDBOX = "risky@sandbox.test"
NOON = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
OTHER_ADDRESS = "198.51.100.8"


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def check(email: str = SANDBOX, ip: str = "198.51.100.7") -> Any:
    return Client().post(PAGE, {"email": email}, REMOTE_ADDR=ip)


def result(response: Any) -> str:
    """Return the text of the result, without tags."""
    page = response.content.decode()
    inside = re.search(r'id="check-result".*?>(.*?)</div>', page, re.DOTALL)
    assert inside
    return " ".join(re.sub(r"<[^>]*>", "", inside[1]).split())


def checks_until_refusal(clock: time_machine.Traveller, ip: str, *, up_to: int) -> int:
    """Return how many checks are allowed. The clock moves, because of the machine's limit."""
    for count in range(up_to):
        clock.shift(timedelta(seconds=1))
        response = check(ip=ip)
        if response.status_code == 429:
            return count
        assert response.status_code == 200
    return up_to


def test_visitor_gets_verdict_reason_and_suggestion(fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("gmial.com")
    fake_dns.add_mail_domain("gmail.com", "gmail-smtp-in.l.google.com")
    text = result(check("jane@gmial.com"))
    assert text.startswith("risky Looks like a typo of gmail.com.")
    assert text.endswith("Did you mean jane@gmail.com?")


def test_visitor_reads_what_is_wrong_with_the_syntax() -> None:
    assert result(check("jane.shop.com")) == f"undeliverable {SYNTAX_MESSAGES['no_at_sign']}"


@pytest.mark.parametrize("verdict", ["deliverable", "risky", "undeliverable", "unknown"])
def test_sandbox_addresses_work_without_a_lookup(verdict: str, fake_dns: FakeDns) -> None:
    assert result(check(f"{verdict}@sandbox.test")).startswith(f"{verdict} ")
    assert fake_dns.messages == 0


def test_markup_in_an_address_is_escaped() -> None:
    page = check('<b>"x"</b>@shop.example').content.decode()
    assert "<b>" not in page
    assert 'value="&lt;b&gt;&quot;x&quot;&lt;/b&gt;@shop.example"' in page


@pytest.mark.parametrize("email", ["", "a" * 321])
def test_form_explains_what_it_does_not_accept(email: str) -> None:
    with time_machine.travel(NOON, tick=False):
        response = check(email)
    assert response.status_code == 200
    assert "errorlist" in response.content.decode()


def test_sixth_check_within_a_minute_is_refused_with_a_link_to_sign_up(
    clock: time_machine.Traveller, fake_dns: FakeDns
) -> None:
    assert checks_until_refusal(clock, "198.51.100.7", up_to=10) == 5
    response = check("jane@shop.com")
    assert (response.status_code, response.headers["Retry-After"]) == (429, "54")
    assert result(response) == "You can make 5 checks per minute here. Sign up to keep testing"
    assert b'<a href="/accounts/signup/">Sign up to keep testing</a>' in response.content
    assert fake_dns.messages == 0


def test_twenty_checks_a_day_are_allowed(clock: time_machine.Traveller) -> None:
    for _ in range(4):
        clock.shift(timedelta(minutes=1))
        assert checks_until_refusal(clock, "198.51.100.7", up_to=5) == 5
    clock.shift(timedelta(minutes=1))
    response = check()
    assert response.status_code == 429
    assert result(response).startswith("You can make 20 checks per day here.")
    assert 11 * 3600 < int(response.headers["Retry-After"]) < 12 * 3600
    clock.shift(timedelta(days=1))
    assert check().status_code == 200


def test_addresses_of_one_ipv6_network_share_the_limits(clock: time_machine.Traveller) -> None:
    for host in range(5):
        clock.shift(timedelta(seconds=1))
        assert check(ip=f"2001:db8::{host}").status_code == 200
    assert check(ip="2001:db8::ffff:0:0:1").status_code == 429
    assert check(ip="2001:db8:0:1::1").status_code == 200


@pytest.mark.parametrize(
    ("addresses", "allowed"),
    [
        ([f"2001:db8:0:{n:x}::1" for n in range(21)], 20),
        ([f"2001:db8:0:{n:x}00::1" for n in range(81)], 80),
    ],
    ids=["/56", "/48"],
)
def test_wider_ipv6_networks_share_limits_too(
    clock: time_machine.Traveller, addresses: list[str], allowed: int
) -> None:
    statuses: list[int] = []
    for address in addresses:
        # Two at a time, because of the machine's limit, and all in one minute.
        clock.shift(timedelta(seconds=len(statuses) % 2))
        statuses.append(check(ip=address).status_code)
    assert statuses == [200] * allowed + [429]
    assert result(check(ip=addresses[-1])).startswith(
        "Your network has checked too many addresses."
    )
    assert check(ip="2001:db8:1::1").status_code == 200


def test_machine_checks_two_addresses_per_second(
    clock: time_machine.Traveller, fake_dns: FakeDns
) -> None:
    assert [check(ip=f"203.0.113.{host}").status_code for host in range(2)] == [200, 200]
    response = check("jane@shop.com", ip="203.0.113.9")
    assert (response.status_code, response.headers["Retry-After"]) == (429, "1")
    assert "Too many visitors are checking addresses" in result(response)
    assert fake_dns.messages == 0
    clock.shift(timedelta(seconds=1))
    assert check(ip="203.0.113.9").status_code == 200


def test_refused_visitor_does_not_use_up_the_machines_limit(clock: time_machine.Traveller) -> None:
    checks_until_refusal(clock, "198.51.100.7", up_to=6)
    clock.shift(timedelta(seconds=1))
    for _ in range(3):
        assert check().status_code == 429
    assert check(ip=OTHER_ADDRESS).status_code == 200


def test_checks_are_refused_while_the_counters_are_unavailable(
    settings: Settings, fake_dns: FakeDns
) -> None:
    broken = {**settings.CACHES["counters"], "LOCATION": "/dev/null/counters"}
    settings.CACHES = {**settings.CACHES, "counters": broken}
    try:
        assert check("jane@shop.com").status_code == 429
    finally:
        limits._breaker.is_open = False
    assert fake_dns.messages == 0


@pytest.mark.usefixtures("clock")
def test_buckets_of_the_api_stay_untouched(caller: ApiClient) -> None:
    def remaining(client: ApiClient) -> int:
        return int(client.validate(SANDBOX).headers["X-RateLimit-Remaining"])

    stranger = ApiClient()
    before = remaining(caller), remaining(stranger)
    for _ in range(3):
        check(ip="127.0.0.1")
    assert (remaining(caller), remaining(stranger)) == (before[0] - 1, before[1] - 1)


def test_check_is_counted_and_not_recorded(
    owner: User, records: LogCapture, clock: time_machine.Traveller
) -> None:
    increases, browser = Increases(), signed_in(owner)
    for _ in range(6):
        clock.shift(timedelta(seconds=1))
        browser.post(PAGE, {"email": "unheard.of@sandbox.test"})
    outcomes = {("undeliverable",): 5.0, ("refused",): 1.0}
    assert increases.of("visitor_checks_total") == outcomes
    assert increases.of("validations_total") == {}
    assert not LogEntry.objects.exists()
    assert not UseHour.objects.exists()
    assert "too_many_checks" in records.text
    assert "unheard.of" not in records.text


def test_daily_count_contains_no_network_address(clock: time_machine.Traveller) -> None:
    check()
    store = caches["daily_counters"]
    keys = str(store._run("SELECT group_concat(key) FROM entries", {}))  # type: ignore[attr-defined]
    assert "visitor_checks:86400:" in keys
    assert "198.51.100.7" not in keys


def test_form_needs_its_token_and_opens_no_session() -> None:
    browser = Client(enforce_csrf_checks=True)
    assert browser.post(PAGE, {"email": SANDBOX}).status_code == 403
    page = browser.get(PAGE)
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page.content)
    assert token
    form = {"email": SANDBOX, "csrfmiddlewaretoken": token[1].decode()}
    assert browser.post(PAGE, form).status_code == 200
    assert set(browser.cookies) == {"csrf"}


def test_form_and_result_are_never_cached() -> None:
    for response in (Client().get(PAGE), check()):
        assert "no-store" in response.headers["Cache-Control"]
