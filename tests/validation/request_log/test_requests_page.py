"""The request log pages: filters, pagination, search, and the page of each request."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, User
from apikeys.models import ApiKey, RefusalHour
from apikeys.models.refusals import refusals
from apikeys.services import create_key
from runtime.database import pagination
from runtime.database.pagination import Cursor
from runtime.dates import midnight
from tests.support.api_client import ApiClient
from tests.validation.reports.usage_data import add_log_entry, add_refusal, read_page
from validation.addresses import address_hash
from validation.models import LogEntry
from validation.models.log_entries import pack_checks

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/validation/requests/"


@pytest.fixture
def now() -> datetime:
    return timezone.now().replace(microsecond=0)


def page_text(browser: Client, query: str = "", path: str = PAGE) -> str:
    response = browser.get(f"{path}?{query}")
    assert response.status_code == 200
    return read_page(response)


def shown_addresses(browser: Client, query: str = "", path: str = PAGE) -> list[str]:
    """Return the address of each row, or its path if it has no address."""
    page = page_text(browser, query, path)
    rows = re.findall(r'class="log-address(?: text-muted)?">([^<]+)<', page)
    return [row.partition("***")[0] for row in rows]


def find(browser: Client, text: str, **times: str) -> Any:
    return browser.post(f"{PAGE}find/", {"text": text, **times}, follow=True)


def test_newest_requests_come_first_with_their_outcome(
    browser: Client, account: Account, now: datetime, key: ApiKey
) -> None:
    add_log_entry(account, now - timedelta(minutes=2), "anna@shop.example", key=key)
    add_refusal(account, now - timedelta(minutes=1), 402, "insufficient_credits", key=key)
    add_log_entry(account, now, "b@shop.example", verdict="risky", reason="role_account")
    page = page_text(browser)
    assert shown_addresses(browser) == ["b", "/v1/validate", "a"]
    for words in ("role_account", "insufficient_credits", "402", key.name, "Playground"):
        assert words in page
    assert "Requests are stored for" in page
    assert ">30 days</a>" in page


def test_each_filter_shows_only_matching_requests(
    browser: Client, account: Account, now: datetime, key: ApiKey
) -> None:
    back = [now - timedelta(minutes=minutes) for minutes in range(5)]
    add_log_entry(account, back[4], "d@shop.example", key=key)
    add_log_entry(
        account, back[3], "r@shop.example", key=key, verdict="risky", reason="role_account"
    )
    add_refusal(account, back[2], 402, "insufficient_credits", key=key)
    add_refusal(account, back[1], 400, "missing_field", key=key)
    add_log_entry(account, back[0], "p@müller.example")
    refused = "/v1/validate"
    for query, addresses in {
        "verdict=risky": ["r"],
        "verdict=deliverable": ["p", "d"],
        "reason=role_account": ["r"],
        "status=200": ["p", "r", "d"],
        "status=402": [refused],
        "status=400": [refused],
        "status=refused": [refused, refused],
        "status=refused&verdict=risky": [],
        "reason=insufficient_credits": [refused],
        "key=playground": ["p"],
        "domain=shop.example": ["r", "d"],
        "domain=@SHOP.example": ["r", "d"],
        "domain=müller.example": ["p"],
        "domain=xn--mller-kva.example": ["p"],
        "since=2020-01-01": ["p", refused, refused, "r", "d"],
        "until=2020-01-01": [],
        "range=24h": ["p", refused, refused, "r", "d"],
        "domain=shop.example&verdict=risky&status=200": ["r"],
        "domain=shop.example&reason=null_mx": [],
        "verdict=risky&status=402": [],
    }.items():
        assert shown_addresses(browser, query) == addresses, query


def test_range_is_in_utc_and_without_its_end(browser: Client, account: Account) -> None:
    day = (timezone.now() - timedelta(days=3)).date()
    for at in ("00:00:00.000000", "23:59:59.999999"):
        add_log_entry(account, datetime.fromisoformat(f"{day}T{at}+00:00"))
    add_log_entry(account, midnight(day + timedelta(days=1)), "x@y.com")
    query = f"since={day}&until={day + timedelta(days=1)}"
    assert shown_addresses(browser, query) == ["j", "j"]


def test_custom_range_is_in_the_viewers_zone_and_its_url_in_utc(browser: Client) -> None:
    times = {"since": "2026-01-01T10:00", "until": "2026-01-01T12:00"}
    browser.cookies["timezone"] = "Asia/Kolkata"
    response = find(browser, "", **times)
    url = f"{PAGE}?since=2026-01-01T04%3A30&until=2026-01-01T06%3A30"
    assert response.redirect_chain == [(url, 302)]
    for time in times.values():
        assert f'value="{time}"' in read_page(response)
    browser.cookies["timezone"] = "Europe/Berlin"
    page = read_page(browser.get(url))
    assert 'value="2026-01-01T05:30"' in page
    assert "1 Jan 2026, 05:30 to 07:30" in page


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_ends_of_the_calendar_are_refused_in_every_zone(browser: Client, zone: str) -> None:
    browser.cookies["timezone"] = zone
    for time in ("0001-01-01T00:00", "9999-12-31T23:59"):
        page = read_page(find(browser, "", since=time))
        assert "We didn't understand <code>since:" in page


def test_row_has_one_link_and_exact_time(browser: Client, account: Account, key: ApiKey) -> None:
    at = timezone.now() - timedelta(hours=2)
    entry = add_log_entry(account, at, key=key)
    table = page_text(browser).partition('class="table-stacks log"')[2]
    (row,) = re.findall(r"<tr>\s*<td.*?</tr>", table, re.DOTALL)
    assert re.findall(r'<a [^>]*href="([^"]+)"', row) == [entry.get_absolute_url()]
    assert f">{at.day} {at:%b %Y, %H:%M:%S}</time>" in row
    assert 'title="2 hours ago' in row


def test_requests_can_be_filtered_by_an_own_key_only(
    browser: Client, account: Account, owner: User, key: ApiKey, stranger: User, now: datetime
) -> None:
    other, _ = create_key(account=account, name="Other", actor=owner)
    add_log_entry(account, now, "a@shop.example", key=key)
    add_log_entry(account, now, "b@shop.example", key=other)
    assert shown_addresses(browser, f"key={other.public_id}") == ["b"]
    other_account = stranger.memberships.get().account
    foreign, _ = create_key(account=other_account, name="Foreign", actor=stranger)
    add_log_entry(other_account, now, "secret@shop.example", key=foreign)
    page = page_text(browser, f"key={foreign.public_id}")
    assert f"We didn't understand <code>key:{foreign.public_id}</code>." in page
    assert "s***@" not in page + page_text(browser)


def test_invalid_filter_shows_no_requests(browser: Client, account: Account, now: datetime) -> None:
    add_log_entry(account, now)
    for query in (
        *("verdict=x", "status=201", "reason=x", "domain=a b", "address=x", "key=x"),
        *("since=9999-12-31", "until=0001-01-01", "request=x", "since=x", "until=x"),
        *("since=2026-11-02&until=2026-11-01", "batch=bat_1", "batch=%00", "range=2h"),
    ):
        assert shown_addresses(browser, query) == [], query


def test_pages_have_no_gaps_or_duplicates(browser: Client, account: Account, now: datetime) -> None:
    """Many rows have the same timestamp."""
    for number in range(120):
        at = now - timedelta(seconds=number // 40)
        add_log_entry(account, at, request_id=f"req_{number:020}")
    seen: list[str] = []
    query = ""
    while True:
        page = page_text(browser, query)
        seen += re.findall(r"/requests/(req_\d{20})/", page)
        older = re.search(r'href="\?([^"]*before=[^"]+)">Older', page)
        if older is None:
            break
        query = older[1]
    assert sorted(seen) == [f"req_{number:020}" for number in range(120)]
    assert "Newest" in page


def test_wrong_cursor_shows_the_newest(browser: Client, account: Account, now: datetime) -> None:
    add_log_entry(account, now)
    for before in ("x", "1-x", "-1", "9" * 40, "1", "٣-٣", "1-99999", ""):
        assert shown_addresses(browser, f"before={before}") == ["j"], before


def test_rare_request_is_found_after_several_limited_scans(
    browser: Client, account: Account, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pagination, "SCAN_LIMIT", 10)
    for number in range(25):
        add_log_entry(account, now - timedelta(seconds=number))
    add_log_entry(account, now - timedelta(seconds=30), "rare@shop.example", verdict="risky")
    query, scans = "verdict=risky", 0
    while not shown_addresses(browser, query):
        page = page_text(browser, query)
        assert "No matching requests so far." in page
        older = re.search(r'href="\?([^"]*before=[^"]+)">Search further back', page)
        assert older
        query, scans = older[1].replace("&amp;", "&"), scans + 1
    assert shown_addresses(browser, query) == ["r"]
    assert scans == 2


def test_range_ends_now(browser: Client, account: Account, now: datetime) -> None:
    ages = {"a": 5, "b": 50, "c": 6 * 24 * 60, "d": 8 * 24 * 60}
    for name, minutes in ages.items():
        add_log_entry(account, now - timedelta(minutes=minutes), f"{name}@shop.example")
    for name, addresses in (("15m", ["a"]), ("1h", ["a", "b"]), ("7d", ["a", "b", "c"])):
        assert shown_addresses(browser, f"range={name}") == addresses


def test_times_are_exact_to_the_minute(browser: Client, account: Account, now: datetime) -> None:
    start = now.replace(second=0) - timedelta(days=1)
    for name, seconds in (("a", -1), ("b", 0), ("c", 59), ("d", 60)):
        add_log_entry(account, start + timedelta(seconds=seconds), f"{name}@shop.example")
    end = start + timedelta(minutes=1)
    query = f"since={start:%Y-%m-%dT%H:%M}&until={end:%Y-%m-%dT%H:%M}"
    assert shown_addresses(browser, query) == ["c", "b"]


@pytest.mark.parametrize(
    ("days", "ranges"),
    [
        (3, ["15 min", "1 h", "24 h", "3 days"]),
        (30, ["15 min", "1 h", "24 h", "7 days", "30 days"]),
    ],
)
def test_ranges_end_with_the_retention(browser: Client, days: int, ranges: list[str]) -> None:
    Account.objects.update(log_days=days)
    navigation = page_text(browser).partition('aria-label="Time range"')[2].partition("</nav>")[0]
    assert re.findall(r">([^<>]+)</a>", navigation) == ranges
    assert re.findall(r'aria-current="true">([^<]+)<', navigation) == ranges[-1:]


def test_chip_removes_its_filter_only(browser: Client, key: ApiKey) -> None:
    page = page_text(browser, f"verdict=risky&key={key.public_id}&range=24h")
    chips = re.findall(r'<a href="([^"]+)" aria-label="Remove the filter ([^"]+)"', page)
    assert chips == [
        (f"{PAGE}?range=24h&key={key.public_id}", "verdict: risky"),
        (f"{PAGE}?verdict=risky&range=24h", f"key: {key.name}"),
    ]


def test_chip_of_an_address_is_masked(browser: Client, account: Account, now: datetime) -> None:
    add_log_entry(account, now, "jane@shop.example")
    found = f"address={address_hash('jane@shop.example')}"
    assert "Remove the filter address: j***@shop.example" in page_text(browser, found)
    assert "Remove the filter address: one address" in page_text(browser, f"address={'0' * 32}")


def test_requests_older_than_the_retention_time_are_hidden(
    browser: Client, account: Account, now: datetime
) -> None:
    old = add_log_entry(account, now - timedelta(days=3))
    assert shown_addresses(browser) == ["j"]
    Account.objects.update(log_days=2)
    assert shown_addresses(browser) == []
    assert browser.get(old.get_absolute_url()).status_code == 404
    Account.objects.update(log_days=0)
    assert "doesn't store requests" in page_text(browser)


def test_address_is_found_and_never_appears_in_a_url(
    browser: Client, account: Account, now: datetime
) -> None:
    add_log_entry(account, now, "Jane.Doe@Shop.example")
    add_log_entry(account, now, "joe@shop.example")
    response = find(browser, " jane.doe@shop.EXAMPLE ")
    ((path, _),) = response.redirect_chain
    assert path == f"{PAGE}?address={address_hash('jane.doe@shop.example')}"
    assert b"J***@" in response.content
    assert b"j***@" not in response.content


@pytest.mark.parametrize("typed", [str, str.lower, str.upper])
def test_searching_a_result_id_opens_its_page(
    browser: Client, caller: ApiClient, typed: Callable[[str], str]
) -> None:
    result = caller.validate("risky@sandbox.test").json()
    response = find(browser, typed(result["id"]))
    assert "/validation/requests/req_" in response.redirect_chain[0][0]
    assert result["id"].encode() in response.content


def test_sandbox_error_is_labeled_as_one(browser: Client, caller: ApiClient) -> None:
    caller.validate("internal_error@sandbox.test")
    (entry,) = LogEntry.objects.all()
    page = read_page(browser.get(entry.get_absolute_url()))
    assert "You requested this error from the sandbox" in page
    refusals.flush()
    assert not RefusalHour.objects.exists()


def test_api_key_in_the_search_box_is_never_echoed(browser: Client, secret: str) -> None:
    response = find(browser, secret)
    assert b"That&#x27;s an API key." in response.content
    assert secret.encode() not in response.content
    assert secret not in str(response.redirect_chain)


def test_result_of_a_stranger_is_not_found(browser: Client, stranger: User, now: datetime) -> None:
    entry = add_log_entry(stranger.memberships.get().account, now)
    assert b"No stored request has the result ID" in find(browser, entry.result_id).content
    assert browser.get(entry.get_absolute_url()).status_code == 404


def test_page_of_a_request_explains_its_verdict(
    browser: Client, account: Account, now: datetime, key: ApiKey
) -> None:
    checks = pack_checks({"syntax": True, "accepts_mail": False})
    fields: dict[str, Any] = {"verdict": "undeliverable", "reason": "null_mx", "score": 0}
    entry = add_log_entry(account, now, key=key, cost=1, checks=checks, **fields)
    page = read_page(browser.get(entry.get_absolute_url()))
    for words in (
        "The domain declares that it accepts no mail (RFC 7505).",
        *("Ask for another address.", "0 of 100"),
        *("1 credit", entry.result_id, entry.request_id, key.name, "Not run"),
    ):
        assert words in page
    assert page.count('<li class="checks-passed">') == page.count('<li class="checks-failed">') == 1


def test_page_of_a_request_suggests_the_domain_that_was_meant(
    browser: Client, account: Account, now: datetime
) -> None:
    for address, reason, accepts_mail, suggestion in (
        ("j@gmial.com", "possible_typo", True, "gmail.com"),
        ("j@gmqx.de", "possible_typo", True, "gmx.de"),
        ("j@gmail.con", "domain_not_found", False, "gmail.com"),
        # The mail provider decides, and isn't stored.
        ("j@gmial.com", "role_account", True, None),
        ("j@shop.example", "domain_not_found", False, None),
        ("no address", "invalid_syntax", None, None),
    ):
        now -= timedelta(minutes=1)
        checks = pack_checks({"syntax": True, "accepts_mail": accepts_mail})
        entry = add_log_entry(account, now, address, reason=reason, checks=checks)
        page = read_page(browser.get(entry.get_absolute_url()))
        shown = re.findall(r"Did you mean <strong[^>]*>([^<]+)<", page)
        assert shown == ([suggestion] if suggestion else []), address


def test_every_logged_request_has_a_page(browser: Client, caller: ApiClient) -> None:
    caller.validate("deliverable@sandbox.test", X_Request_Id="odd_-_id")
    caller.validate("no address")
    caller.validate("ünïcode@ödd.example")
    caller.send(b"{}")
    caller.get("/v1/nothing<b>")
    caller.get("/v1/me")
    for entry in LogEntry.objects.all():
        response = browser.get(entry.get_absolute_url())
        assert response.status_code == 200
        assert b"nothing<b>" not in response.content


def test_unknown_request_is_404(browser: Client) -> None:
    for path in ("req_x", "req_unknown/1/", "req_unknown/" + "9" * 30 + "/"):
        assert browser.get(PAGE + path).status_code == 404


def test_cursor_is_exact_to_the_microsecond() -> None:
    cursor = Cursor(datetime(2026, 11, 20, 18, 30, 0, 123_457, tzinfo=UTC), 7)
    assert Cursor.parse(str(cursor)) == cursor


def test_no_page_needs_more_than_12_queries(
    browser: Client,
    account: Account,
    now: datetime,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(60):
        add_log_entry(account, now - timedelta(seconds=number))
    for query in ("", "verdict=deliverable", "status=402", "domain=shop.example&verdict=risky"):
        with django_assert_max_num_queries(12):
            assert len(browser.get(f"{PAGE}?{query}").content) < 150_000
