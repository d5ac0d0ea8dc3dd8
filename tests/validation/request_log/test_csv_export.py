"""The CSV export of the filtered requests."""

import csv
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Account, User
from apikeys.models import ApiKey
from runtime.database import pagination
from tests.validation.reports.usage_data import add_log_entry, add_refusal
from validation.request_log import csv_export

pytestmark = pytest.mark.django_db

PAGE = "/validation/requests/csv/"


@pytest.fixture
def now() -> datetime:
    return timezone.now().replace(microsecond=0)


def export(browser: Client, **filters: str) -> list[dict[str, str]]:
    response: Any = browser.post(PAGE, filters)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    text = response.getvalue().decode("utf-8-sig")
    return list(csv.DictReader(text.splitlines()))


def test_export_contains_the_rows_with_masked_addresses(
    browser: Client, account: Account, now: datetime, key: ApiKey
) -> None:
    add_log_entry(account, now - timedelta(minutes=1), "anna@shop.example", key=key)
    refusal = add_refusal(account, now, 402, "insufficient_credits")
    newest, oldest = export(browser)
    assert newest["error"] == "insufficient_credits"
    assert newest["request id"] == refusal.request_id
    assert newest["key name"] == "Playground"
    assert oldest["time (UTC)"] == f"{now - timedelta(minutes=1):%Y-%m-%d %H:%M:%S}"
    assert oldest["address"] == "a***@shop.example"
    assert (oldest["key"], oldest["key name"]) == (key.public_id, key.name)


def test_export_has_what_filters_select(browser: Client, account: Account, now: datetime) -> None:
    add_log_entry(account, now, "r@shop.example", verdict="risky", reason="role_account")
    add_log_entry(account, now - timedelta(days=3), "o@shop.example", verdict="risky")
    add_log_entry(account, now, "d@shop.example")
    since = f"{now - timedelta(days=1):%Y-%m-%d}"
    (row,) = export(browser, verdict="risky", since=since)
    assert row["address"] == "r***@shop.example"


def test_rows_of_other_accounts_and_expired_rows_are_not_exported(
    browser: Client, account: Account, stranger: User, now: datetime
) -> None:
    add_log_entry(stranger.memberships.get().account, now)
    add_log_entry(account, now - timedelta(days=400))
    assert export(browser) == []


def test_cells_are_safe_in_a_spreadsheet(
    browser: Client, account: Account, now: datetime, key: ApiKey
) -> None:
    ApiKey.objects.update(name="+cmd")
    add_log_entry(account, now, "=sum@shop.example", key=key, request_id="-1-cmd")
    (row,) = export(browser)
    assert row["address"] == "'=***@shop.example"
    assert (row["key name"], row["request id"]) == ("'+cmd", "'-1-cmd")


def test_export_is_recorded_with_its_filters(
    browser: Client, account: Account, now: datetime, key: ApiKey
) -> None:
    export(browser, verdict="risky", key=key.public_id, address="0" * 32)
    entry = account.audit_entries.get(action="requests.exported")
    assert entry.target == f"Verdict: risky, Address: one address, Key: {key.name}"


def test_invalid_filter_exports_nothing(browser: Client, account: Account) -> None:
    response = browser.post(PAGE, {"verdict": "x"})
    assert response["Location"] == "/validation/requests/?verdict=x"
    assert not account.audit_entries.filter(action="requests.exported").exists()


def test_batches_have_no_gaps(
    browser: Client, account: Account, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_export, "BATCH_SIZE", 3)
    for number in range(10):
        add_log_entry(account, now - timedelta(seconds=number // 4), request_id=f"req_{number:020}")
    assert sorted(row["request id"] for row in export(browser)) == [
        f"req_{number:020}" for number in range(10)
    ]


def test_export_says_where_it_was_cut(
    browser: Client, account: Account, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        add_log_entry(account, now - timedelta(seconds=number))
    for max_rows, is_cut in ((4, True), (5, False)):
        monkeypatch.setattr(csv_export, "MAX_ROWS", max_rows)
        *rows, last = export(browser)
        assert len(rows) == 4
        assert last["time (UTC)"].startswith("The export stopped here.") is is_cut


def test_export_of_rare_requests_reads_a_bounded_part_of_the_log(
    browser: Client, account: Account, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pagination, "SCAN_LIMIT", 3)
    monkeypatch.setattr(csv_export, "MAX_SCANS", 2)
    for number in range(10):
        add_log_entry(account, now - timedelta(seconds=number))
    add_log_entry(account, now - timedelta(seconds=20), verdict="risky")
    (row,) = export(browser, verdict="risky")
    assert row["time (UTC)"].startswith("The export stopped here.")
