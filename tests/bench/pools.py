"""Measure what other work costs a customer's single calls, in pools behind the shipped nginx."""

import http.client
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from config.server.supervisor import LIST_WORKER
from tests.bench.api import DOMAINS, validate
from tests.bench.batches import (
    CALM_RATE,
    DNS_SECONDS,
    SINGLE_CALLERS,
    SIZE,
    batch,
    cold_emails,
    warm_emails,
)
from tests.bench.customers import make_customers
from tests.bench.list_upload import UploadedList, upload_list
from tests.bench.load import Address, Load, Outcome, build_request, generate
from tests.bench.servers import servers
from tests.bench.table import Metric
from tests.servers.pools import pools
from tests.servers.product import ROOT, Product
from tests.servers.reverse_proxy import NAME, ReverseProxy, reverse_proxy

ROUNDS, SECONDS, LEAD_SECONDS = 7, 3.0, 0.5
BATCH_CALLERS, COLD_BATCHES = 4, 150
LONG_POLLS, TRANSFERS = 400, 4
LIST_ADDRESSES, UPLOADED_ADDRESSES = 50_000, 20_000
ENVIRONMENT = {"BASE_URL": f"https://{NAME}", "ALLOWED_HOSTS": NAME, "TRUSTED_PROXIES": "1"}
# The customer's p99 during other work, relative to the same round without it.
LIMITS = {
    "warm batches": 2.5,
    "cold batches": 3.0,
    "uploads": 2.0,
    "downloads": 2.0,
    "400 long polls": 2.0,
}
Work = Callable[[], Outcome | None]


@dataclass
class Site:
    running: Product
    nginx: ReverseProxy
    # Of the customer, of the one who sends batches, and of those who upload lists.
    secrets: list[str]
    completed: UploadedList
    # No process works on it.
    waiting: UploadedList

    @property
    def certificate(self) -> str:
        return str(self.nginx.folder / "proxy.pem")

    def load(self, requests: tuple[bytes, ...], callers: int, seconds: float) -> Load:
        address = Address("127.0.0.1", self.nginx.port)
        return Load(address, requests, callers, seconds, certificate=self.certificate, name=NAME)


@dataclass
class Round:
    alone: Outcome
    during: dict[str, Outcome] = field(default_factory=dict)
    # Batches per second.
    rates: dict[str, float] = field(default_factory=dict)


@contextmanager
def site() -> Iterator[Site]:
    with (
        servers(slow_delay=DNS_SECONDS) as shared,
        pools(shared.folder / "product", **ENVIRONMENT, **shared.environment) as running,
        reverse_proxy(shared.folder / "nginx", pools=running.ports) as nginx,
    ):
        secrets = make_customers(running, accounts=2 + TRANSFERS)["paid"]
        completed = upload_list(running, LIST_ADDRESSES, 1000)
        _complete(running, completed)
        yield Site(running, nginx, secrets, completed, upload_list(running, 1000, 100))


def _complete(running: Product, uploaded: UploadedList) -> None:
    process = subprocess.Popen(LIST_WORKER, cwd=ROOT, env=running.process_environment)
    headers = {"Authorization": f"Bearer {uploaded.secret}", "Host": NAME}
    headers["X-Forwarded-Proto"] = "https"
    state = ""
    while state != "completed":
        time.sleep(0.5)
        connection = http.client.HTTPConnection("127.0.0.1", running.port)
        connection.request("GET", f"/v1/lists/{uploaded.id}", headers=headers)
        state = json.load(connection.getresponse())["state"]
    process.terminate()
    process.wait()


class Transfer(NamedTuple):
    """Uploads, or downloads of a list, over one connection."""

    port: int
    certificate: str
    secret: str
    list_id: str = ""

    def run(self, seconds: float) -> None:
        context = ssl.create_default_context(cafile=self.certificate)
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        plain = socket.create_connection(("127.0.0.1", self.port))
        connection.sock = context.wrap_socket(plain, server_hostname=NAME)
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            if self.list_id:
                response = self._send(connection, "GET", f"/v1/lists/{self.list_id}/download")
                while response.read(65536) and time.monotonic() < ends_at:
                    pass
            else:
                rows = "\n".join(f"jane{n}@shop{n}.com" for n in range(UPLOADED_ADDRESSES))
                created = json.load(self._send(connection, "POST", "/v1/lists", rows))
                self._send(connection, "DELETE", f"/v1/lists/{created['id']}").read()
        connection.close()

    def _send(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: str = ""
    ) -> http.client.HTTPResponse:
        headers = {"Authorization": f"Bearer {self.secret}", "Host": NAME}
        connection.request(method, path, body, {**headers, "Content-Type": "text/csv"})
        return connection.getresponse()


def transfer(transfers: list[Transfer], seconds: float) -> None:
    threads = [threading.Thread(target=each.run, args=(seconds,)) for each in transfers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure_round(executor: Executor, site: Site) -> Round:
    def call() -> Outcome:
        calls = tuple(validate(n, site.secrets[0], host=NAME) for n in range(DOMAINS))
        load = replace(site.load(calls, SINGLE_CALLERS, SECONDS), rate=CALM_RATE)
        return executor.submit(generate, load).result()

    def call_during(start: Callable[[Site], Work]) -> tuple[Outcome, float]:
        work = executor.submit(start(site))
        time.sleep(LEAD_SECONDS)
        outcome, other = call(), work.result()
        return outcome, other.rate if other else 0.0

    measured = Round(call())
    for name, start in WORKS.items():
        measured.during[name], measured.rates[name] = call_during(start)
    return measured


def _warm_batches(site: Site) -> Work:
    return _batches(site, [warm_emails(number) for number in range(10)])


def _cold_batches(site: Site) -> Work:
    return _batches(site, [cold_emails() for _ in range(COLD_BATCHES)])


def _batches(site: Site, emails: list[list[str]]) -> Work:
    requests = tuple(batch(each, site.secrets[1], host=NAME) for each in emails)
    return partial(generate, site.load(requests, BATCH_CALLERS, LEAD_SECONDS + SECONDS))


def _uploads(site: Site) -> Work:
    uploads = [Transfer(site.nginx.port, site.certificate, key) for key in site.secrets[2:]]
    return partial(transfer, uploads, LEAD_SECONDS + SECONDS)


def _downloads(site: Site) -> Work:
    uploaded = site.completed
    download = Transfer(site.nginx.port, site.certificate, uploaded.secret, uploaded.id)
    return partial(transfer, [download] * TRANSFERS, LEAD_SECONDS + SECONDS)


def _long_polls(site: Site) -> Work:
    path = f"/v1/lists/{site.waiting.id}?wait=30"
    poll = build_request("GET", path, b"", site.waiting.secret, host=NAME)
    load = site.load((poll,), LONG_POLLS, LEAD_SECONDS + SECONDS)
    # nginx closes connections that send nothing for 5 s, until all are open.
    return partial(generate, replace(load, statuses=None))


WORKS: dict[str, Callable[[Site], Work]] = {
    "warm batches": _warm_batches,
    "cold batches": _cold_batches,
    "uploads": _uploads,
    "downloads": _downloads,
    "400 long polls": _long_polls,
}


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    rounds: list[Round] = []
    with site() as running:
        for number in range(ROUNDS + 1):
            measured = measure_round(executor, running)
            # The first round warms up.
            rounds += [measured] if number else []
            print_progress(f"Round {number} of {ROUNDS} is done.")
    alone = [1000 * each.alone.percentile(99) for each in rounds]
    metrics = [Metric("single calls alone: p99, ms", alone)]
    for name, limit in LIMITS.items():
        slower = [each.during[name].percentile(99) / each.alone.percentile(99) for each in rounds]
        metrics.append(Metric(f"p99 during {name}, relative to alone", slower, at_most=limit))
        if "batches" in name:
            rates = [each.rates[name] for each in rounds]
            metrics.append(Metric(f"{name} of {SIZE} addresses per second", rates))
    return metrics
