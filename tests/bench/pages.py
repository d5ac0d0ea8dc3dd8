"""Measure the dashboard's pages over a long request log on PostgreSQL.

For each page: how long it takes, how many queries it runs, and whether their plans use indexes.
"""

import os
import re
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

ROUNDS = 5
MAX_MS, MAX_QUERIES, MAX_BYTES = 150, 12, 150_000
# Tables that grow with use. No query plan may scan one of them sequentially.
LONG_TABLES = {"validation_logentry", "credits_usehour", "credits_useday", "apikeys_refusalhour"}


@dataclass
class Page:
    name: str
    path: str
    milliseconds: float = 0
    queries: int = 0
    size: int = 0
    # Long tables that a query of this page scans sequentially.
    scanned: set[str] = field(default_factory=set)

    @property
    def is_met(self) -> bool:
        fits = self.queries <= MAX_QUERIES and self.size <= MAX_BYTES
        return fits and self.milliseconds <= MAX_MS and not self.scanned


def cells(few: Page, many: Page) -> list[str]:
    """Return a table row that compares a page over few and over many rows."""
    milliseconds = [f"{page.milliseconds:.0f}" for page in (few, many)]
    scanned = ", ".join(sorted(many.scanned)) or "none"
    return [many.name, *milliseconds, f"{many.queries}", f"{many.size / 1000:.0f}", scanned]


def measure(rows: int) -> tuple[list[Page], list[Page]]:
    """Measure the pages with a tenth of the rows and with all. Runs in a separate process."""
    from tests.servers.postgres import postgres

    with postgres() as url, tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            DATABASE_URL=url, DATA_DIR=folder, DJANGO_SETTINGS_MODULE="tests.settings"
        )
        import django

        django.setup()
        return _measure(rows)


def _measure(rows: int) -> tuple[list[Page], list[Page]]:
    from django.core.management import call_command

    from tests.bench.rows import fill_log, fill_totals, make_accounts

    call_command("migrate", verbosity=0)
    data = make_accounts()
    fill_totals(data)
    first = rows * 9 // 10
    fill_log(data, first, rows, rows)
    short = _measure_pages(data)
    fill_log(data, 1, first - 1, rows)
    return short, _measure_pages(data)


def _measure_pages(data: Any) -> list[Page]:
    from django.test import Client

    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(data.user)
    pages = _pages(data)
    for page in pages:
        _measure_page(client, page)
    return pages


def _pages(data: Any) -> list[Page]:
    from validation.models import LogEntry

    entries = LogEntry.objects.filter(account=data.account, status=200)
    newest, middle = entries.latest("at"), entries.order_by("at")[entries.count() // 2]
    key = data.keys[3].public_id
    return [
        Page("overview", "/validation/"),
        *_usage_pages(newest.at.date(), key),
        *_log_pages(middle, key),
        Page("one request", middle.get_absolute_url()),
        Page("playground", "/validation/playground/"),
        Page("playground, several addresses", "/validation/playground/batch/"),
        Page("data", "/validation/data/"),
        Page("billing", "/credits/"),
        Page("ledger", "/credits/ledger/"),
        Page("API keys", "/apikeys/"),
    ]


def _usage_pages(today: date, key: str) -> list[Page]:
    usage = "/validation/usage/"
    since, until = (today - timedelta(days=365 * years) for years in (4, 2))
    return [
        Page("usage, 24 hours", f"{usage}?range=24h"),
        Page("usage, 7 days by hour", f"{usage}?range=7d&by=hour"),
        Page("usage, 30 days", usage),
        Page("usage, 90 days, one key", f"{usage}?range=90d&key={key}"),
        Page("usage, 12 months", f"{usage}?range=12m"),
        Page("usage, 2 years in the past", f"{usage}?since={since}&until={until}"),
        Page("usage, 90 days, CSV", f"{usage}csv/?range=90d"),
    ]


def _log_pages(middle: Any, key: str) -> list[Page]:
    """Return the pages of the request log. `middle`: the entry halfway back."""
    from runtime.database.pagination import Cursor
    from tests.bench.rows import COMMON_DOMAIN, RARE_DOMAIN

    log = "/validation/requests/"
    return [
        Page("requests", log),
        Page("requests, halfway back", f"{log}?before={Cursor(middle.at)}"),
        Page("requests, one in 50 verdicts", f"{log}?verdict=unknown"),
        Page("requests, one in 100,000 reasons", f"{log}?reason=mixed_script"),
        Page("requests, refused", f"{log}?status=402"),
        Page("requests, status without matches", f"{log}?status=404"),
        Page("requests, one key", f"{log}?key={key}"),
        Page("requests, a rare domain", f"{log}?domain={RARE_DOMAIN}"),
        Page(
            "requests, a common domain and a rare verdict",
            f"{log}?domain={COMMON_DOMAIN}&verdict=unknown",
        ),
        Page(
            "requests, filters without matches",
            f"{log}?domain={COMMON_DOMAIN}&reason=mixed_script&key={key}&status=402",
        ),
        Page("requests, one day", f"{log}?day={middle.at.date()}"),
        Page("requests, one address", f"{log}?address={middle.address_hash}"),
        Page("requests, by id", f"{log}?request={middle.request_id}"),
    ]


def _measure_page(client: Any, page: Page) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client.get(page.path)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        response = client.get(page.path)
        # Reads streamed responses too.
        body = response.getvalue()
        times.append((time.perf_counter() - start) * 1000)
        assert response.status_code == 200, (page.path, response.status_code)
    with CaptureQueriesContext(connection) as queries:
        client.get(page.path).getvalue()
    page.milliseconds, page.size = statistics.median(times), len(body)
    page.queries = len(queries)
    page.scanned = {table for query in queries for table in _scanned(query["sql"])}


def _scanned(sql: str) -> set[str]:
    from django.db import connection

    if not any(table in sql for table in LONG_TABLES) or not sql.startswith(("SELECT", "(SELECT")):
        return set()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
        scans = set(re.findall(r"Seq Scan on (\w+)", plan))
        # The partitions of days to come are empty.
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relname = ANY(%s) AND pg_relation_size(oid) > 0",
            [list(scans)],
        )
        names = [name for (name,) in cursor.fetchall()]
    return {table for table in LONG_TABLES for name in names if name.startswith(table)}
