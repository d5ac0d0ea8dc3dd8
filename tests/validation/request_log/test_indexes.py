"""Every filter with an index uses it."""

import re
from datetime import UTC, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from runtime.database import pagination
from validation.models import LogEntry
from validation.request_log.filters import LogFilter
from validation.request_log.histogram import count_requests
from validation.request_log.search import log_page

ROWS = 500


def test_page_uses_the_index_of_its_most_selective_filter(account: Account, key: ApiKey) -> None:
    fill_log(account, key)
    for query, index in (
        (dict[str, str](), "log_by_account"),
        ({"reason": "role_account"}, "log_by_rare_reason"),
        ({"reason": "domain_accepts_mail"}, "log_by_account"),
        ({"domain": "rare.example"}, "log_by_domain"),
        ({"address": "0" * 32}, "log_by_address"),
        ({"request": "req_1234"}, "log_by_request"),
        ({"status": "402"}, "log_of_refusals"),
        ({"status": "refused"}, "log_of_refusals"),
    ):
        form = log_filter(account, **query)
        with CaptureQueriesContext(connection) as queries:
            log_page(form)
        assert index in _plan(queries[-1]["sql"]), query


def test_end_of_a_bounded_scan_is_found_without_reading_rows(
    account: Account, key: ApiKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pagination, "SCAN_LIMIT", 20)
    fill_log(account, key)
    form = log_filter(account, verdict="unknown")
    with CaptureQueriesContext(connection) as queries:
        log_page(form)
    covering = "Index Only Scan" if connection.vendor == "postgresql" else "COVERING INDEX"
    assert covering in _plan(queries[0]["sql"])


def test_chart_counts_in_indexes_without_reading_rows(account: Account, key: ApiKey) -> None:
    fill_log(account, key)
    form = log_filter(account)
    with CaptureQueriesContext(connection) as queries:
        count_requests(form, timezone.now(), UTC)
    (query,) = queries
    plan = _plan(query["sql"])
    for index in ("log_by_account", "log_of_refusals", "log_by_rare_reason"):
        assert index in plan
    if connection.vendor == "postgresql":
        # It chooses freely between both scans of an index that has no matching row.
        assert "Index Only Scan" in plan
    else:
        # The counts of all, of rows without a verdict, and of three verdicts. Refusals are rare.
        assert plan.count("COVERING INDEX") >= 5


def log_filter(account: Account, **query: str) -> LogFilter:
    form = LogFilter(query, account)
    assert form.is_valid()
    return form


def fill_log(account: Account, key: ApiKey) -> None:
    now = timezone.now()
    LogEntry.objects.bulk_create(
        LogEntry(
            account=account,
            key=key,
            at=now - timedelta(seconds=number),
            request_id=f"req_{number}",
            status=200,
            duration_ms=1,
            domain="common.example" if number % 9 else f"shop-{number}.example",
            address_hash=f"{number:032}",
            verdict="deliverable",
            reason="domain_accepts_mail",
        )
        for number in range(ROWS)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _plan(sql: str) -> str:
    """Return the plan, with the log's name of an index in place of the partitions' names."""
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            return str(cursor.fetchall())
        cursor.execute(f"EXPLAIN {sql}")
        plan = str(cursor.fetchall())
        cursor.execute(
            "SELECT inhrelid::regclass::text, inhparent::regclass::text FROM pg_inherits"
        )
        names = dict(cursor.fetchall())
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), plan)
