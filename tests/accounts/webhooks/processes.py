"""Processes that send webhooks, without a web server."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.lists.list_processes import change
from tests.servers.books import fetch_number, fetch_rows
from tests.servers.keys import manage
from tests.servers.product import ROOT, Product, migrated_postgres

_SETUP = """
from django.utils import timezone
from accounts.models import Account
from tests.accounts.webhooks.factory import make_endpoint, record_events
account, _ = Account.objects.get_or_create(name={account!r})
for url in {urls!r}:
    since = timezone.now() if {is_failing} else None
    endpoint = make_endpoint(account, url, failing_since=since)
    record_events(account, {events}, endpoint)
"""


class Attempt(NamedTuple):
    url: str
    error: str
    status: int | None
    start: datetime
    end: datetime


class Sender(Product):
    """A database, and a process that sends webhooks."""

    def launch(self, output: int, errors: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "manage.py", "run_webhooks"],
            cwd=ROOT,
            env={"WEBHOOK_ALLOW_PRIVATE": "on", **self.process_environment},
            stdout=output,
            stderr=errors,
        )

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = self.launch(log.fileno(), log.fileno())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def count(self, condition: str = "1 = 1") -> int:
        return fetch_number(self, f"SELECT COUNT(*) FROM accounts_delivery WHERE {condition}")  # noqa: S608

    def wait_until_delivered(self, number: int) -> None:
        wait_until(lambda: self.count("state = 'delivered'") == number, self.output)

    def attempts(self, url: str = "") -> list[Attempt]:
        """Return the attempts to URLs that begin with this one."""
        rows = fetch_rows(
            self,
            "SELECT url, error, status, at, duration_ms FROM accounts_deliveryattempt a "
            "JOIN accounts_delivery d ON d.id = a.delivery_id "
            "JOIN accounts_webhookendpoint e ON e.id = d.endpoint_id",
        )
        return [
            Attempt(address, error, status, start, start + timedelta(milliseconds=duration))
            for address, error, status, at, duration in rows
            for start in [datetime.fromisoformat(str(at))]
            if address.startswith(url)
        ]


def most_at_once(attempts: list[Attempt]) -> int:
    """Return the most attempts that were in progress at the same time."""
    changes = [(attempt.start, 1) for attempt in attempts]
    changes += [(attempt.end, -1) for attempt in attempts]
    return max(accumulate(change for _, change in sorted(changes)))


def add_endpoints(
    site: Product, *urls: str, events: int = 1, account: str = "Shop", is_failing: bool = False
) -> None:
    """Create endpoints, and events for each."""
    script = _SETUP.format(account=account, urls=urls, events=events, is_failing=is_failing)
    manage(site, "shell", "--no-imports", "-c", script)


def end_leases(site: Product) -> None:
    """Let time pass for the leases of killed processes."""
    change(site, "UPDATE accounts_webhookendpoint SET leased_until = '2026-01-01 00:00:00'")


def wait_until(
    condition: Callable[[], bool], explain: Callable[[], str] = str, seconds: float = 100
) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, explain()
        time.sleep(0.05)


@contextmanager
def sender(folder: Path, **environment: str) -> Iterator[Sender]:
    running = Sender(folder, errors=None, **environment)
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sender]:
    with ExitStack() as stack:
        options = {}
        if request.param == "postgresql":
            options["DATABASE_URL"] = stack.enter_context(migrated_postgres())
        yield stack.enter_context(sender(tmp_path, **options))
