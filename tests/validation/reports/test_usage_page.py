"""The usage page: chart, tables and CSV of a date range in the query string."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, User
from apikeys.models import ApiKey, RefusalHour
from apikeys.services import create_key
from credits.wallet.totals import delete_old_hours, roll_up_days
from tests.credits.time_travel import on
from tests.validation.reports.usage_data import add_usage, read_page
from validation.reports.usage_stats import STACK_ORDER

pytestmark = pytest.mark.django_db

PAGE = "/validation/usage/"
NONE = ' class="usage-none"'


@pytest.fixture(autouse=True)
def _in_november() -> Iterator[None]:
    """Fix the year, because labels contain it if it isn't the current one."""
    with time_machine.travel(at(21)):
        yield


def page_text(browser: Client, query: str = "") -> str:
    response = browser.get(f"{PAGE}?{query}")
    assert response.status_code == 200
    return read_page(response)


def csv_rows(browser: Client, query: str = "") -> list[list[str]]:
    response = browser.get(f"{PAGE}csv/?{query}")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(response.getvalue().decode("utf-8-sig"))))


def at(day: int, hour: int = 12) -> datetime:
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def row(name: str, *numbers: int, linked: bool = True) -> str:
    requests, *split, credits = numbers
    cells = "".join(
        f'<td data-label="{verdict}"{"" if calls else NONE}>{calls:,}</td>'
        for verdict, calls in zip(STACK_ORDER, split, strict=True)
    )
    cells = f'<td>{requests:,}</td>{cells}<td data-label="credits">{credits:,}</td>'
    return f"{name}</a></th>{cells}</tr>" if linked else f"{name}</th>{cells}</tr>"


def test_days_are_in_utc_and_the_table_matches_the_chart(browser: Client, account: Account) -> None:
    add_usage(account, at(19, 23), 1_200)
    add_usage(account, at(20), 5, "risky")
    add_usage(account, at(20), 2, "unknown")
    page = page_text(browser, "since=2026-11-18&until=2026-11-20")
    assert "18 Nov 2026 to 20 Nov 2026, sandbox excluded. UTC." in page
    assert row("Fri 20 Nov", 7, 0, 5, 0, 2, 7) in page
    assert row("Thu 19 Nov", 1_200, 1_200, 0, 0, 0, 1_200) in page
    assert row("Wed 18 Nov", 0, 0, 0, 0, 0, 0) in page
    assert "<title>Thu 19 Nov: 1,200 validations 1,200 deliverable</title>" in page
    assert "<title>Fri 20 Nov: 7 validations 5 risky 2 unknown</title>" in page
    times = "since=2026-11-19T00%3A00&until=2026-11-20T00%3A00"
    assert f'href="/validation/requests/?{times}"' in page
    assert "Last 30 days" not in page


def test_bar_of_one_key_leads_to_the_requests_of_that_key(
    browser: Client, account: Account, key: ApiKey
) -> None:
    add_usage(account, at(20), key=key)
    page = page_text(browser, f"range=7d&key={key.public_id}")
    times = "since=2026-11-20T00%3A00&until=2026-11-21T00%3A00"
    assert f'href="/validation/requests/?{times}&key={key.public_id}"' in page


def test_hours_are_in_the_viewers_time_zone(browser: Client, account: Account) -> None:
    add_usage(account, at(20, 12), 3)
    query = "since=2026-11-20&until=2026-11-20&by=hour"
    assert "sandbox excluded. UTC." in page_text(browser, query)
    assert row("Fri 20 Nov, 12:00", 3, 3, 0, 0, 0, 3) in page_text(browser, query)
    browser.cookies["timezone"] = "Asia/Kolkata"
    page = page_text(browser, query)
    assert "Hours are in your time zone, Asia/Kolkata." in page
    assert row("Fri 20 Nov, 17:30", 3, 3, 0, 0, 0, 3) in page


@pytest.mark.anywhere
def test_invalid_time_zone_falls_back_to_utc(browser: Client) -> None:
    for zone in ("../../etc/passwd", "Nowhere/Else", "a/" * 5_000, "\\0", "/", "Factory"):
        browser.cookies["timezone"] = zone
        assert "sandbox excluded. UTC." in page_text(browser, "range=24h")


def test_months_are_the_sum_of_their_days(browser: Client, account: Account) -> None:
    add_usage(account, datetime(2026, 9, 30, 23, tzinfo=UTC), 2)
    add_usage(account, datetime(2026, 10, 1, 0, tzinfo=UTC), 4)
    with on("2026-10-15"):
        roll_up_days()
    add_usage(account, datetime(2026, 10, 20, tzinfo=UTC), 8)
    page = page_text(browser, "since=2026-09-01&until=2026-12-31")
    assert row("Sep 2026", 2, 2, 0, 0, 0, 2) in page
    assert row("Oct 2026", 12, 12, 0, 0, 0, 12) in page


def test_days_whose_hours_were_deleted_are_shown_by_day(browser: Client, account: Account) -> None:
    add_usage(account, datetime(2025, 7, 10, 3, tzinfo=UTC), 1_000)
    with on("2026-11-21"):
        roll_up_days()
        delete_old_hours()
        page = page_text(browser, "since=2025-07-10&until=2025-07-10")
        assert row("Thu 10 Jul 2025", 1_000, 1_000, 0, 0, 0, 1_000, linked=False) in page
        assert len(csv_rows(browser, "since=2025-07-10&until=2025-07-10")) == 2
        page = page_text(browser, "since=2025-07-10&until=2025-07-10&by=hour")
        assert "Usage by hour is available for 13 months." in page


def test_dates_take_precedence_over_the_range(browser: Client, account: Account) -> None:
    add_usage(account, at(2), 9)
    page = page_text(browser, "range=24h&since=2026-11-02&until=2026-11-02&by=day")
    assert row("Mon 02 Nov", 9, 9, 0, 0, 0, 9) in page
    assert page.count('aria-current="true"') == 1


def test_each_hour_has_a_unique_label_when_clocks_change(browser: Client, account: Account) -> None:
    add_usage(account, at(1))
    browser.cookies["timezone"] = "America/St_Johns"
    page = page_text(browser, "since=2026-11-01&until=2026-11-01&by=hour")
    assert row("Sun 01 Nov, 01:30 -0230", 0, 0, 0, 0, 0, 0) in page
    assert row("Sun 01 Nov, 01:30 -0330", 0, 0, 0, 0, 0, 0) in page


def test_usage_can_be_filtered_by_source(browser: Client, account: Account, key: ApiKey) -> None:
    add_usage(account, at(20), 3, key=key)
    add_usage(account, at(20), 4)
    add_usage(account, at(20), 100, for_list=True)
    for person, calls, day in ((key.pk, 5, 20), (None, 6, 20), (None, 1_000, 2)):
        add, code = RefusalHour.objects.create, "rate_limit_exceeded"
        add(account_id=account.pk, key_id=person, hour=at(day), code=code, calls=calls)
    for query, requests, rows in (
        *(("source=api", 3, [False, True]), ("source=playground", 4, [True, False])),
        *(("key=playground", 4, [True, False]), ("", 107, [True, True])),
    ):
        page = page_text(browser, f"range=7d&{query}")
        noun = "Requests" if query else "Validations"
        assert f"<dt>{noun}, last 7 days</dt><dd>{requests}</dd>" in page
        table = page.partition('id="keys"')[2]
        assert [name in table for name in ("Playground</th>", key.display)] == rows
        refused = {3: 5, 4: 6, 107: 11}[requests]
        assert f'<span class="text-muted">{refused} requests</span>' in page


def test_chart_of_lists_counts_addresses_by_the_key_that_started_them(
    browser: Client, account: Account, key: ApiKey
) -> None:
    add_usage(account, at(20), 3, key=key)
    add_usage(account, at(20), 70, key=key, for_list=True)
    add_usage(account, at(20), 30, "risky", for_list=True)
    page = page_text(browser, "since=2026-11-20&until=2026-11-20&by=day&source=lists")
    assert "<dt>Addresses, 20 Nov 2026</dt><dd>100</dd>" in page
    assert "<title>Fri 20 Nov: 100 addresses 70 deliverable 30 risky</title>" in page
    assert row("Fri 20 Nov", 100, 70, 30, 0, 0, 100, linked=False) in page
    assert "validation time" not in page
    assert (
        row('Dashboard <span class="text-muted">lists</span>', 30, 0, 30, 0, 0, 30, linked=False)
        in page
    )
    assert 'id="refused"' not in page
    page = page_text(browser, "range=12m&source=lists")
    assert "since=2026-11-01&until=2026-11-21&source=lists" in page


def test_key_of_another_account_is_refused(browser: Client, stranger: User) -> None:
    account = stranger.memberships.get().account
    foreign, _ = create_key(account=account, name="Foreign", actor=stranger)
    page = page_text(browser, f"key={foreign.public_id}")
    assert "Select a valid choice" in page
    assert "Foreign" not in page


@pytest.mark.anywhere
def test_invalid_range_is_reported(browser: Client) -> None:
    for query, words in {
        "range=30d&by=hour": "Usage by hour is limited to 7 days.",
        "range=12m&by=day": "Usage by day is limited to 92 days.",
        "range=24h&by=month": "only available by hour.",
        "since=2026-11-20&until=2026-11-01": "must be before",
        "since=2020-01-01": "at most two years",
        "since=yesterday": "Enter a valid date.",
        "since=0001-01-01&until=9999-12-31": "Choose a date from 2020 to ",
        "range=forever": "Select a valid choice",
    }.items():
        page = page_text(browser, query)
        assert words in page, query
        assert 'id="intervals"' not in page
        assert words in read_page(browser.get(f"{PAGE}csv/?{query}", follow=True))


def test_account_without_usage_has_a_page(browser: Client) -> None:
    for query in ("", "range=24h", "range=7d&by=hour", "range=90d", "range=12m"):
        page = page_text(browser, query)
        assert "<strong>No validations in this period.</strong>" in page
        assert 'class="chart"' not in page
        assert len(csv_rows(browser, query)) == 1


def test_csv_has_rows_by_day_key_and_source(browser: Client, account: Account, key: ApiKey) -> None:
    add_usage(account, at(19), 5, key=key)
    add_usage(account, at(20), 6, "unknown", key=key)
    add_usage(account, at(20), 7)
    add_usage(account, at(20), 8, key=key, for_list=True)
    add_usage(account, at(20), 9, for_list=True)
    query = "since=2026-11-19&until=2026-11-20&by=day"
    verdicts = ["deliverable", "risky", "undeliverable", "unknown"]
    key_cells = [key.public_id, key.name]
    dashboard, of_list = ["", "Lists"], ["8", "8", "0", "0", "0", "8", "lists"]
    assert csv_rows(browser, query) == [
        ["day (UTC)", "key", "name", "requests", *verdicts, "credits", "source"],
        ["2026-11-19", *key_cells, "5", "5", "0", "0", "0", "5", "api"],
        ["2026-11-20", *dashboard, "9", "9", "0", "0", "0", "9", "lists"],
        ["2026-11-20", "", "Playground", "7", "7", "0", "0", "0", "7", "playground"],
        ["2026-11-20", *key_cells, "6", "0", "0", "0", "6", "6", "api"],
        ["2026-11-20", *key_cells, *of_list],
    ]
    assert csv_rows(browser, f"{query}&source=lists&key={key.public_id}")[1:] == [
        ["2026-11-20", *key_cells, *of_list]
    ]
    hours = csv_rows(browser, query.replace("by=day", "by=hour"))
    assert hours[1][0] == "2026-11-19 12:00"


@pytest.mark.anywhere
def test_key_name_is_no_formula_in_the_csv(browser: Client, account: Account, owner: User) -> None:
    key, _ = create_key(account=account, name="=1+1", actor=owner)
    add_usage(account, at(20), key=key)
    assert csv_rows(browser, "since=2026-11-20&until=2026-11-20")[1][2] == "'=1+1"


def test_refusal_leads_to_the_page_that_fixes_it(browser: Client, account: Account) -> None:
    links = {
        "insufficient_credits": "/credits/packs/",
        "rate_limit_exceeded": "/credits/plans/",
        "ip_not_allowed": "/apikeys/",
        "api_key_expired": "/apikeys/",
        "invalid_json": "",
    }
    button = '<a role="button" class="button-quiet" href="'
    for code, link in links.items():
        RefusalHour.objects.all().delete()
        RefusalHour.objects.create(
            account_id=account.pk, key_id=None, hour=at(20), code=code, calls=1
        )
        refused = page_text(browser).partition('id="refused"')[2]
        assert refused.count(button) == bool(link), code
        assert f"{button}{link}" in refused or not link, code


def test_page_needs_no_more_than_12_queries(
    browser: Client,
    account: Account,
    key: ApiKey,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for day in range(1, 20):
        add_usage(account, at(day), 5, key=key)
    for query in ("range=24h", "range=30d", "range=12m", f"key={key.public_id}"):
        with django_assert_max_num_queries(12):
            page_text(browser, query)
    with django_assert_max_num_queries(12):
        csv_rows(browser, "range=12m")
