"""Measure lists: how fast they are parsed and checked, and what that costs.

Each list has domains of its own, so all of them have to be looked up.
"""

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import dns.message
import psutil
import psycopg

from tests.bench.api import WORKERS
from tests.bench.list_upload import UploadedList, upload_list
from tests.bench.load import Address
from tests.bench.processes import cpu_seconds
from tests.bench.quick_resolver import QuickResolver, quick_resolver
from tests.bench.servers import servers
from tests.servers.product import Product, product

ADDRESSES = 100_000
DNS_SECONDS = 0.02
# Distinct domains as a share of the addresses.
DOMAIN_SHARES = (0.05, 0.1, 0.2)
PROCESSES = (1, 2)
# As many as the product has.
MX_THREADS = 64
_POLL_SECONDS = 0.1
_TIME_LIMIT = 3600
STAGES = ("parse", "domains", "addresses")


@dataclass
class Run:
    addresses: int
    domains: int
    processes: int
    # By stage: seconds of the clock, and CPU seconds by process.
    seconds: dict[str, float]
    cpu: dict[str, dict[str, float]]
    megabytes: float
    deliverable: int
    unknown: int
    database_bytes: int

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())

    @property
    def wrong(self) -> int:
        """Return the number of definite verdicts that are wrong: all addresses are deliverable."""
        return self.addresses - self.deliverable - self.unknown


@dataclass
class Site:
    running: Product
    # Measured besides the product's list processes.
    pids: dict[str, int]

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self.running.port)


@contextmanager
def site(processes: int) -> Iterator[Site]:
    settings = {"WEB_WORKERS": WORKERS, "LIST_PROCESSES": str(processes)}
    with (
        servers(DNS_SECONDS) as shared,
        product(shared.folder / "product", **settings, **shared.environment) as running,
    ):
        yield Site(running, {"PostgreSQL": shared.postgres.pid, "resolver": shared.resolver.pid})


def measure_run(site: Site, processes: int, addresses: int, domains: int) -> Run:
    size_before = _database_bytes(site)
    uploaded = upload_list(site.running, addresses, domains)
    samples: dict[str, tuple[float, dict[str, float]]] = {"parse": _sample(site)}
    megabytes = 0.0
    for document in watch(site, uploaded):
        megabytes = max([megabytes, *map(_megabytes, list_processes(site))])
        samples.setdefault(stage_of(document), _sample(site))
    for stage in STAGES:
        samples.setdefault(stage, samples["completed"])
    ordered = [samples[stage] for stage in (*STAGES, "completed")]
    seconds, cpu = {}, {}
    for stage, (before, after) in zip(STAGES, pairwise(ordered), strict=True):
        seconds[stage] = after[0] - before[0]
        cpu[stage] = {name: after[1][name] - before[1][name] for name in after[1]}
    verdicts = document["verdicts"]
    return Run(
        *(document["counts"]["addresses"], domains, processes, seconds, cpu, megabytes),
        *(verdicts["deliverable"], verdicts["unknown"], _database_bytes(site) - size_before),
    )


def _database_bytes(site: Site) -> int:
    with psycopg.connect(site.running.environment["DATABASE_URL"]) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


def watch(site: Site, uploaded: UploadedList) -> Iterator[dict[str, Any]]:
    """Yield the list's document again and again until it is completed."""
    ends_at, state = time.monotonic() + _TIME_LIMIT, ""
    while state != "completed":
        document = call_list(site, uploaded)
        state = document["state"]
        if state in ("failed", "paused") or time.monotonic() > ends_at:
            raise RuntimeError(f"The list is {state}: {document['error']}")
        yield document
        time.sleep(_POLL_SECONDS)


def call_list(site: Site, uploaded: UploadedList, action: str = "") -> dict[str, Any]:
    """Read the list's document, or pause or resume the list."""
    headers = {"Authorization": f"Bearer {uploaded.secret}"}
    method, path = ("POST", f"/{action}") if action else ("GET", "")
    # A new connection: the caller may take longer than the server keeps one open.
    with closing(http.client.HTTPConnection(*site.address)) as connection:
        connection.request(method, f"/v1/lists/{uploaded.id}{path}", headers=headers)
        document: dict[str, Any] = json.load(connection.getresponse())
    return document


def stage_of(document: dict[str, Any]) -> str:
    state = document["state"]
    if state in ("uploading", "parsing", "completed"):
        return "completed" if state == "completed" else "parse"
    return "addresses" if document["progress"]["checked"] else "domains"


def _sample(site: Site) -> tuple[float, dict[str, float]]:
    pids = [process.pid for process in list_processes(site)]
    others = {name: cpu_seconds([pid]) for name, pid in site.pids.items()}
    return time.perf_counter(), {"list processes": cpu_seconds(pids), **others}


def list_processes(site: Site) -> list[psutil.Process]:
    children = psutil.Process(site.running.process.pid).children()
    return [child for child in children if "run_lists" in child.cmdline()]


def _megabytes(process: psutil.Process) -> float:
    """Return the memory of the larger of a list process and the one in which it reads a file."""
    sizes = []
    for each in (process, *process.children()):
        try:
            sizes.append(float(each.memory_info().rss))
        except psutil.NoSuchProcess:
            continue
    return max(sizes) / 1e6


def bare_mx_rate(domains: int) -> float:
    """Return how many domains per second threads look up that send an MX query and no more."""
    with quick_resolver(DNS_SECONDS) as resolver, ThreadPoolExecutor(MX_THREADS) as threads:
        started = time.perf_counter()
        look_up = _mx_query(resolver)
        for _ in threads.map(look_up, range(domains)):
            pass
        return domains / (time.perf_counter() - started)


def _mx_query(resolver: QuickResolver) -> Callable[[int], None]:
    def look_up(number: int) -> None:
        query = dns.message.make_query(f"domain{number}.com", "MX")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.settimeout(10)
            udp.connect(("127.0.0.1", resolver.port))
            udp.send(query.to_wire())
            dns.message.from_wire(udp.recv(512))

    return look_up
