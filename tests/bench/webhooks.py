"""Measure the time from commit to delivery, and a process that has 50 busy queues."""

import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import psutil

from tests.bench.processes import cpu_seconds
from tests.bench.table import Metric
from tests.servers.books import fetch_number
from tests.servers.keys import manage
from tests.servers.postgres import postgres_server
from tests.servers.product import Product, product
from tests.servers.receiver import Receiver, receiver, silence
from tests.support.waiting import wait_until

SINGLE_EVENTS, IDLE_SECONDS = 100, 60
ACCOUNTS, ENDPOINTS, SILENT, DELIVERIES = 10, 50, 10, 10_000
TIME_LIMIT = 600

_ENDPOINT = """
from accounts.models import Account
from tests.accounts.webhooks.factory import make_endpoint
account, _ = Account.objects.get_or_create(name="{account}")
make_endpoint(account, "{url}")
"""
# Prints the event's id and the time of its commit.
_SINGLE_EVENT = """
import time
from accounts.models import Account, Event
from tests.accounts.webhooks.factory import record_events
record_events(Account.objects.get(name="single"), 1)
print(Event.objects.latest("pk").public_id, time.time())
"""
_ALL_EVENTS = """
import time
from django.db import transaction
from accounts.models import WebhookEndpoint
from tests.accounts.webhooks.factory import record_events
with transaction.atomic():
    for endpoint in WebhookEndpoint.objects.exclude(account__name="single"):
        record_events(endpoint.account, {each}, endpoint)
print(time.time())
"""


def measure(print_progress: Callable[[str], None]) -> list[Metric]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
        postgres = stack.enter_context(postgres_server())
        options = {"DATABASE_URL": postgres.url, "WEBHOOK_ALLOW_PRIVATE": "on"}
        site = stack.enter_context(product(folder, WEBHOOK_PROCESSES="1", **options))
        (process,) = (
            child
            for child in psutil.Process(site.process.pid).children()
            if "run_webhooks" in child.cmdline()
        )
        idle_cpu = _idle_cpu(process)
        print_progress("The idle process is measured.")
        waits = _measure_single(site, stack.enter_context(receiver()))
        print_progress("Single events are delivered.")
        queues = _measure_queues(site, stack, process)
        return [
            Metric("single events: p50 from commit to receiver, s", [median(waits)]),
            Metric(
                "single events: p99 from commit to receiver, s",
                [sorted(waits)[int(0.99 * len(waits)) - 1]],
                at_most=2,
            ),
            Metric("idle: CPU, % of a core", [idle_cpu], at_most=1),
            *queues,
        ]


def _idle_cpu(process: psutil.Process) -> float:
    before = cpu_seconds([process.pid])
    time.sleep(IDLE_SECONDS)
    return 100 * (cpu_seconds([process.pid]) - before) / IDLE_SECONDS


def _run(site: Product, script: str, **values: object) -> str:
    return manage(site, "shell", "--no-imports", "-c", script.format(**values))


def _measure_single(site: Product, shop: Receiver) -> list[float]:
    _run(site, _ENDPOINT, account="single", url=shop.url)
    waits = []
    for _ in range(SINGLE_EVENTS):
        time.sleep(random.uniform(0.5, 1.5))
        event_id, committed_at = _run(site, _SINGLE_EVENT).split()
        wait_until(lambda: event_id in shop.ids, TIME_LIMIT)  # noqa: B023
        (received,) = (request for request in shop.requests if request.id == event_id)
        waits.append(received.at - float(committed_at))
    return waits


def _measure_queues(site: Product, stack: ExitStack, process: psutil.Process) -> list[Metric]:
    silent = [stack.enter_context(receiver(silence)) for _ in range(SILENT)]
    shops = [stack.enter_context(receiver()) for _ in range(ENDPOINTS - SILENT)]
    for number, each in enumerate([*silent, *shops]):
        _run(site, _ENDPOINT, account=f"Shop {number % ACCOUNTS}", url=each.url)
    cpu = cpu_seconds([process.pid])
    committed_at = float(_run(site, _ALL_EVENTS, each=DELIVERIES // ENDPOINTS))
    expected = DELIVERIES // ENDPOINTS * len(shops)
    wait_until(lambda: sum(len(set(shop.ids)) for shop in shops) == expected, TIME_LIMIT)
    delivered = "SELECT COUNT(*) FROM accounts_delivery WHERE state = 'delivered'"
    wait_until(lambda: fetch_number(site, delivered) == expected + SINGLE_EVENTS, TIME_LIMIT)
    cpu = cpu_seconds([process.pid]) - cpu
    ends = sorted(max(request.at for request in shop.requests) - committed_at for shop in shops)
    return [
        Metric("40 responsive endpoints: seconds until the last is done", ends[-1:], at_most=60),
        Metric("40 responsive endpoints: seconds until the first is done", ends[:1]),
        Metric(
            "40 responsive endpoints: events sent twice",
            [float(sum(len(shop.ids) for shop in shops) - expected)],
            at_most=0,
        ),
        Metric(
            "silent endpoints: most attempts in progress for one",
            [float(max(each.most_in_progress for each in silent))],
            at_most=1,
        ),
        Metric("CPU of the process for each delivery, ms", [1000 * cpu / expected]),
        Metric("memory of the process, MB", [process.memory_info().rss / 1e6]),
    ]
