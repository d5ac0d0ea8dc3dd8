"""Kill the process that asks mail servers: checks are asked again, and charged once."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psutil
import pytest

from tests.servers.books import fetch_number
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_key, manage
from tests.servers.product import Product, migrated_postgres, product
from tests.servers.smtp_server import SmtpHost, SmtpServer, smtp_server
from tests.servers.socks_proxy import socks_proxy

pytestmark = [pytest.mark.process, pytest.mark.fault]

DOMAINS, NAMES, CREDITS = 6, 3, 100
# Long enough to be killed while it is awaited.
SLOW_ACCEPTANCE = (0.3, b"250 2.1.5 OK\r\n")
EXPIRE_LEASES = (
    "from validation.models import MailHostPace as P; P.objects.update(leased_until=None)"
)


@pytest.fixture(params=["sqlite", "postgresql"])
def stack(request: pytest.FixtureRequest) -> Iterator[tuple[ExitStack, dict[str, str]]]:
    with ExitStack() as stack:
        is_postgres = request.param == "postgresql"
        url = stack.enter_context(migrated_postgres()) if is_postgres else ""
        yield stack, {"DATABASE_URL": url} if url else {}


@pytest.fixture
def running(
    stack: tuple[ExitStack, dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Product, SmtpServer]:
    """Start the product, and mail hosts behind a proxy that connects to them on loopback."""
    contexts, database = stack
    names = {f"name{number}": SLOW_ACCEPTANCE for number in range(NAMES)}
    hosts = {f"127.0.9.{n}": SmtpHost(mailboxes=names) for n in range(1, DOMAINS + 1)}
    scripted, server = FakeDns(), contexts.enter_context(smtp_server(hosts))
    proxy = contexts.enter_context(socks_proxy())
    proxy.port = server.port
    for number in range(1, DOMAINS + 1):
        scripted.add_mail_domain(f"shop{number}.com", address=f"8.8.4.{number}")
        proxy.redirects[f"8.8.4.{number}"] = f"127.0.9.{number}"
    environment = {
        "DNS_RESOLVERS": contexts.enter_context(dns_server(scripted)),
        "DNS_TIMEOUT": "10",
        "PROBE_MAILBOX_CHECKS": "on",
        "PROBE_DOMAIN": "probe.example",
        "PROBE_PROXY": proxy.url(),
    }
    folder = tmp_path_factory.mktemp("kills")
    return contexts.enter_context(product(folder, **environment, **database)), server


def kill_probes(site: Product) -> None:
    """Kill the process, and let the next one start where it was, without waiting for leases."""
    for child in psutil.Process(site.process.pid).children():
        if "run_probes" in child.cmdline():
            child.kill()
            child.wait()
    manage(site, "shell", "--no-imports", "-c", EXPIRE_LEASES)


def test_killed_checks_are_asked_again_and_charged_once(
    running: tuple[Product, SmtpServer],
) -> None:
    site, server = running
    caller = HttpCaller(site, make_key(site, "kills@shop.example", 100_000, credits=CREDITS))
    emails = [f"name{n}@shop{d}.com" for d in range(1, DOMAINS + 1) for n in range(NAMES)]

    def check(email: str) -> ClientResponse:
        body = json.dumps({"email": email, "check": "mailbox", "timeout_s": 1})
        return caller.call("POST", "/v1/validate", body, {"Idempotency-Key": email})

    with ThreadPoolExecutor(len(emails)) as pool:
        started = list(pool.map(check, emails))
    assert {response.status for response in started} == {200}
    ids = {response.document["id"] for response in started}
    assert len(ids) == len(emails)
    deadline = time.monotonic() + 120
    for asked in (4, 12, 20):
        while server.verbs["RCPT"] < asked or not sum(server.open_connections.values()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        kill_probes(site)
    while fetch_number(site, "SELECT COUNT(*) FROM validation_probe WHERE done_at IS NULL"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    finished = [check(email) for email in emails]
    caller.close()
    assert {response.document["id"] for response in finished} == ids
    assert {response.document["reason"] for response in finished} == {"mailbox_accepted"}
    assert {response.document["credits"]["charged"] for response in finished} == {2}
    assert "agree" in manage(site, "check_books")
    assert fetch_number(site, "SELECT SUM(credits) FROM credits_usehour") == 2 * len(emails)
    assert fetch_number(site, "SELECT SUM(calls) FROM credits_usehour") == len(emails)
    assert fetch_number(site, "SELECT SUM(held) FROM credits_wallet") == 0
    log = "SELECT SUM(cost) FROM validation_logentry WHERE reason = 'mailbox_accepted'"
    assert fetch_number(site, log) == 2 * len(emails)
