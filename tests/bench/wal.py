"""Measure what the API's work adds to PostgreSQL: bytes of WAL and of tables, and rows.

Unlike times, these hardly depend on the machine's other load.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import psycopg

from tests.bench.api import validate
from tests.bench.batches import SIZE, batch, warm_emails
from tests.bench.customers import make_customers
from tests.bench.list_upload import upload_list
from tests.bench.lists import Site, watch
from tests.bench.load import Address, Load, generate
from tests.bench.servers import servers
from tests.servers.books import fetch_number
from tests.servers.keys import manage
from tests.servers.product import Product, product
from tests.servers.receiver import receiver
from tests.support.waiting import wait_until

CALLS, ADDRESSES, DELIVERIES, CALLERS = 5_000, 20_000, 1_000, 16
HEADER = ["", "WAL, bytes", "tables, bytes", "indexes, bytes", "rows added", "rows updated"]
_TIME_LIMIT = 1200
# An idle session of PostgreSQL reports its last rows after up to 10 s.
_SETTLE_SECONDS = 12
_STATE = """
SELECT pg_current_wal_insert_lsn() - '0/0', sum(pg_relation_size(relid)),
    sum(pg_indexes_size(relid)), sum(n_tup_ins), sum(n_tup_upd)
FROM pg_stat_user_tables
"""
_OPTIONS = {"LIST_PROCESSES": "1", "WEBHOOK_PROCESSES": "1", "WEBHOOK_ALLOW_PRIVATE": "on"}
_EVENTS = """
from django.db import transaction
from accounts.models import Account
from tests.accounts.webhooks.factory import make_endpoint, record_events
with transaction.atomic():
    endpoint = make_endpoint(Account.objects.first(), "{url}")
    record_events(endpoint.account, {count}, endpoint)
"""


@dataclass
class Meter:
    running: Product
    database: "psycopg.Connection[tuple[float, ...]]"
    print_progress: Callable[[str], None]
    # A table row for each kind of work.
    cells: list[list[str]] = field(default_factory=list)

    @contextmanager
    def measure(self, name: str, units: int) -> Iterator[None]:
        """Measure what one of the units adds, of which the context works off so many."""
        time.sleep(_SETTLE_SECONDS)
        before = self._state()
        yield
        time.sleep(_SETTLE_SECONDS)
        added = [(b - a) / units for a, b in zip(before, self._state(), strict=True)]
        numbers = [f"{n:,.0f}" for n in added[:3]] + [f"{n:.2f}" for n in added[3:]]
        self.cells.append([name, *numbers])
        self.print_progress(f"Measured: {name}.")

    def _state(self) -> list[float]:
        return [float(value) for row in self.database.execute(_STATE) for value in row]

    def send(
        self, name: str, requests: Sequence[bytes], callers: int = CALLERS, addresses: int = 1
    ) -> None:
        """Send each request once."""
        count, address = len(requests), Address("127.0.0.1", self.running.port)
        with self.measure(name, count * addresses):
            generate(Load(address, tuple(requests), callers, _TIME_LIMIT, max_requests=count))


def measure(print_progress: Callable[[str], None]) -> list[list[str]]:
    with (
        servers() as shared,
        product(shared.folder / "product", **_OPTIONS, **shared.environment) as running,
        psycopg.connect(shared.postgres.url, autocommit=True) as database,
    ):
        # After a checkpoint, pages are written in full. Have only the one that is measured.
        database.execute("ALTER SYSTEM SET checkpoint_timeout = '1d'")
        database.execute("ALTER SYSTEM SET max_wal_size = '100GB'")
        database.execute("SELECT pg_reload_conf()")
        meter = Meter(running, database, print_progress)
        _measure_calls(meter, make_customers(running)["paid"])
        with meter.measure("an address of a list", ADDRESSES):
            list(watch(Site(running, {}), upload_list(running, ADDRESSES, ADDRESSES // 10)))
        _measure_deliveries(meter)
    return meter.cells


def _measure_calls(meter: Meter, keys: list[str]) -> None:
    many = tuple(validate(n, keys[n % len(keys)]) for n in range(CALLS))
    one = tuple(validate(n, keys[0]) for n in range(CALLS))
    send = partial(meter.send, requests=many)
    send("(warm-up)")
    meter.cells.clear()
    send("a call, one caller", requests=one[: CALLS // 5], callers=1)
    send("a call, 16 callers, one account", requests=one)
    send("a call, 16 callers, 200 accounts")
    meter.database.execute("CHECKPOINT")
    send("the same, first 5,000 calls after a checkpoint")
    name = b"Content-Type"
    keyed = [c.replace(name, b"Idempotency-Key: %d\r\n" % n + name, 1) for n, c in enumerate(many)]
    send("a call with an `Idempotency-Key`", requests=keyed)
    send("its replay", requests=keyed)
    batches = [batch(warm_emails(n), keys[n % len(keys)]) for n in range(CALLS // 10)]
    send(f"an address of a batch of {SIZE}", requests=batches, callers=4, addresses=SIZE)


def _measure_deliveries(meter: Meter) -> None:
    done = "SELECT COUNT(*) FROM accounts_delivery WHERE state = 'delivered'"
    with receiver() as shop, meter.measure("an event and its delivery to a webhook", DELIVERIES):
        script = _EVENTS.format(url=shop.url, count=DELIVERIES)
        manage(meter.running, "shell", "--no-imports", "-c", script)
        wait_until(lambda: fetch_number(meter.running, done) >= DELIVERIES, _TIME_LIMIT)
