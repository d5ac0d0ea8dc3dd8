"""Measure a list of 10,000 mailboxes at 200 scripted mail hosts, each at its own pace.

Of the hosts, most tell the truth. Some accept everything, some treat a control name in an unclear
way, and some refuse everything with the words for a missing mailbox.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import psutil

from tests.bench.api import validate
from tests.bench.batches import CALM_RATE, SINGLE_CALLERS
from tests.bench.customers import make_customers
from tests.bench.load import Address, Load, Outcome, generate_in_turns, percentile
from tests.bench.processes import cpu_seconds
from tests.bench.table import Metric
from tests.servers.books import fetch_number
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import manage
from tests.servers.postgres import postgres_server
from tests.servers.product import Product, product
from tests.servers.smtp_server import ACCEPTED, UNKNOWN, SmtpHost, smtp_server
from tests.servers.socks_proxy import socks_proxy
from tests.support.waiting import wait_until

HOSTS, MAILBOXES = 200, 10_000
EACH = MAILBOXES // HOSTS
# With more missing names, the guard against harvesting would stop.
EXISTING = {f"name{number}": ACCEPTED for number in range(EACH) if number % 3}
# The hosts of each ten, and the reasons of names that exist and of those that don't.
KINDS: dict[str, tuple[int, SmtpHost, str, str]] = {
    "honest": (7, SmtpHost(mailboxes=EXISTING), "mailbox_accepted", "mailbox_not_found"),
    "open": (1, SmtpHost(mailboxes={}, other=ACCEPTED), "accept_all", "accept_all"),
    "unclear": (
        *(1, SmtpHost(mailboxes=EXISTING, other="451 4.3.0 Try later")),
        *("domain_accepts_mail", "server_temporary_error"),
    ),
    "wall": (1, SmtpHost(mailboxes={}, other=UNKNOWN), "server_refused_us", "server_refused_us"),
}
_KINDS_OF_TEN = [kind for kind, (number, *_) in KINDS.items() for _ in range(number)]
ROUNDS, SECONDS, WAKE_SECONDS = 5, 4.0, 6.0
TIME_LIMIT = 600
# Those that are to be asked again later count, too.
_ASKED = "SELECT COUNT(*) FROM validation_probe WHERE done_at IS NOT NULL OR tries > 0"
_PLANS = """
from credits.models import Plan, Subscription
Plan.objects.update(list_addresses=10_000_000)
Subscription.objects.update(plan=Plan.objects.get(code="starter"))
"""


class Site(NamedTuple):
    running: Product
    # Of the customer with a list, and of the one with single calls.
    secrets: list[str]

    @property
    def prober(self) -> psutil.Process:
        children = psutil.Process(self.running.process.pid).children(recursive=True)
        return next(child for child in children if "run_probes" in child.cmdline())

    def call(self, method: str, path: str, **body: object) -> Any:
        response = self.send(method, path, json.dumps(body) if body else "")
        if response.status >= 300:
            raise RuntimeError(response.text)
        return response.document

    def send(self, method: str, path: str, body: str = "") -> ClientResponse:
        # The server closes connections that are idle for as long as a round takes.
        return HttpCaller(self.running, self.secrets[0]).call(method, path, body)


@contextmanager
def site() -> Iterator[Site]:
    dns = FakeDns()
    dns.add_mail_domain("single.com")
    addresses = {host: f"127.11.0.{host + 1}" for host in range(HOSTS)}
    with ExitStack() as stack:
        hosts = {address: KINDS[_kind_of(host)][1] for host, address in addresses.items()}
        server = stack.enter_context(smtp_server(hosts))
        proxy = stack.enter_context(socks_proxy())
        proxy.port = server.port
        for host, address in addresses.items():
            dns.add_mail_domain(f"shop{host}.com", f"mx.host{host}.com", f"8.9.0.{host + 1}")
            proxy.redirects[f"8.9.0.{host + 1}"] = address
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
        running = stack.enter_context(
            product(
                folder,
                DATABASE_URL=stack.enter_context(postgres_server()).url,
                DNS_RESOLVERS=stack.enter_context(dns_server(dns)),
                LIST_PROCESSES="1",
                PROBE_MAILBOX_CHECKS="on",
                PROBE_DOMAIN="probe.example",
                PROBE_PROXY=proxy.url(),
            )
        )
        secrets = make_customers(running, accounts=2)["paid"]
        manage(running, "shell", "--no-imports", "-c", _PLANS)
        yield Site(running, secrets)


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    with site() as found:
        emails = [f"name{number}@shop{host}.com" for number in range(EACH) for host in range(HOSTS)]
        created = found.call("POST", "/v1/lists", emails=emails, check="mailbox", start=True)
        path = f"/v1/lists/{created['id']}"
        wait_until(
            lambda: found.call("GET", path)["progress"]["mailboxes_total"] == MAILBOXES,
            TIME_LIMIT,
            pause=0.5,
        )
        print_progress("Mail servers are asked.")
        early, before = found.prober.memory_info().rss / 1e6, cpu_seconds([found.prober.pid])
        started = time.monotonic()
        alone, during = _measure_calls(executor, found, path)
        wait_until(lambda: fetch_number(found.running, _ASKED) == MAILBOXES, TIME_LIMIT, pause=0.5)
        seconds, late = time.monotonic() - started, found.prober.memory_info().rss / 1e6
        cpu = cpu_seconds([found.prober.pid]) - before
        # Greylisted names would be asked again for 86 minutes.
        found.call("POST", f"{path}/finish")
        wait_until(lambda: found.call("GET", path)["state"] == "completed", TIME_LIMIT, pause=0.5)
        counts = found.call("GET", path)["reasons"]
        wrong = _count_wrong(found.send("GET", f"{path}/download?format=jsonl").text)
    paused = ROUNDS * (SECONDS + 1)
    return [
        Metric("seconds until all are asked", [seconds - paused]),
        Metric("wrong verdicts", [float(wrong)], at_most=0),
        Metric("found: no such mailbox", [float(counts["mailbox_not_found"])]),
        Metric("found: mailbox accepted", [float(counts["mailbox_accepted"])]),
        Metric("CPU of the process for each check, ms", [1000 * cpu / MAILBOXES]),
        Metric("memory of the process at the beginning, MB", [early]),
        Metric("memory of the process at the end, MB", [late]),
        Metric(
            "another customer's single calls: p99 during the list, relative to a paused one",
            [
                there.percentile(99) / here.percentile(99)
                for here, there in zip(alone, during, strict=True)
            ],
            at_most=1.2,
        ),
        Metric("p99 while the list is paused, ms", [1000 * percentile(alone, 99)]),
        Metric("p99 during the list, ms", [1000 * percentile(during, 99)]),
    ]


def _measure_calls(
    executor: Executor, found: Site, path: str
) -> tuple[list[Outcome], list[Outcome]]:
    """Measure single calls in turns, while the list is paused and while it runs."""
    address = Address("127.0.0.1", found.running.port)
    requests = tuple(validate(number, found.secrets[1], "single.com") for number in range(50))
    load = Load(address, requests, SINGLE_CALLERS, SECONDS, rate=CALM_RATE)

    def change(action: str, seconds: float) -> None:
        found.call("POST", f"{path}/{action}")
        time.sleep(seconds)

    pause, resume = partial(change, "pause", 1), partial(change, "resume", WAKE_SECONDS)
    return generate_in_turns(executor, load, ROUNDS, pause, resume)


def _count_wrong(lines: str) -> int:
    """Count definite verdicts that aren't those of the mailbox."""
    wrong: Counter[str] = Counter()
    for line in lines.splitlines():
        result = json.loads(line)["result"]
        name, _, domain = result["email"].partition("@")
        host = int(domain.removeprefix("shop").removesuffix(".com"))
        _, _, existing, missing = KINDS[_kind_of(host)]
        expected = existing if name in EXISTING else missing
        if result["verdict"] != "unknown" and result["reason"] != expected:
            wrong[result["reason"]] += 1
    return wrong.total()


def _kind_of(host: int) -> str:
    return _KINDS_OF_TEN[host % 10]
