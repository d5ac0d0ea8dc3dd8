"""Kill the process that asks mail servers: checks are asked again, and charged once."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import psutil
import pytest

from tests.lists.list_processes import end_leases, state_of
from tests.servers.books import fetch_number
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_key, manage
from tests.servers.product import Product, migrated_postgres, product
from tests.servers.smtp_server import SmtpHost, SmtpServer, smtp_server
from tests.servers.socks_proxy import socks_proxy
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault]

DOMAINS, NAMES, CREDITS = 6, 3, 100
EMAILS = [f"name{name}@shop{host}.com" for host in range(1, DOMAINS + 1) for name in range(NAMES)]
DONE = "SELECT COUNT(*) FROM validation_probe WHERE done_at IS NOT NULL"
# Long enough to be killed while it is awaited.
SLOW_ACCEPTANCE = (0.3, b"250 2.1.5 OK\r\n")
PAID_PLAN = (
    "from credits.models import Plan, Subscription as S; "
    "S.objects.update(plan=Plan.objects.get(code='starter'))"
)
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
        "LIST_PROCESSES": "1",
    }
    folder = tmp_path_factory.mktemp("kills")
    return contexts.enter_context(product(folder, **environment, **database)), server


def kill(site: Product, *commands: str) -> None:
    """Kill processes, and let the next ones start where they were, without waiting for leases."""
    for child in psutil.Process(site.process.pid).children():
        if not {*commands}.isdisjoint(child.cmdline()):
            child.kill()
            child.wait()
    manage(site, "shell", "--no-imports", "-c", EXPIRE_LEASES)
    end_leases(site)


def test_killed_checks_are_repeated_and_charged_once(running: tuple[Product, SmtpServer]) -> None:
    site, server = running
    caller = HttpCaller(site, make_key(site, "kills@shop.example", 100_000, credits=CREDITS))

    def check(email: str) -> ClientResponse:
        body = json.dumps({"email": email, "check": "mailbox", "timeout_s": 1})
        response = caller.call("POST", "/v1/validate", body, {"Idempotency-Key": email})
        # A busy machine refuses some. Clients repeat them with their key.
        return check(email) if response.status == 503 else response

    with ThreadPoolExecutor(len(EMAILS)) as pool:
        started = list(pool.map(check, EMAILS))
    assert {response.status for response in started} == {200}
    ids = {response.document["id"] for response in started}
    assert len(ids) == len(EMAILS)
    connections = server.open_connections
    for asked in (4, 12, 20):
        wait_until(lambda: server.verbs["RCPT"] >= asked and sum(connections.values()), 120)  # noqa: B023
        kill(site, "run_probes")
    wait_until(lambda: fetch_number(site, DONE) == len(EMAILS), 120)
    finished = [check(email) for email in EMAILS]
    caller.close()
    assert {response.document["id"] for response in finished} == ids
    assert {response.document["reason"] for response in finished} == {"mailbox_accepted"}
    assert {response.document["credits"]["charged"] for response in finished} == {2}
    assert "agree" in manage(site, "check_books")
    assert fetch_number(site, "SELECT SUM(credits) FROM credits_usehour") == 2 * len(EMAILS)
    assert fetch_number(site, "SELECT SUM(calls) FROM credits_usehour") == len(EMAILS)
    assert fetch_number(site, "SELECT SUM(held) FROM credits_wallet") == 0
    log = "SELECT SUM(cost) FROM validation_logentry WHERE reason = 'mailbox_accepted'"
    assert fetch_number(site, log) == 2 * len(EMAILS)


def test_killed_processes_charge_a_list_once(running: tuple[Product, SmtpServer]) -> None:
    site, _ = running
    secret = make_key(site, "kills@shop.example", 100_000, credits=CREDITS)
    manage(site, "shell", "--no-imports", "-c", PAID_PLAN)
    with closing(HttpCaller(site, secret)) as caller:
        body = json.dumps({"emails": EMAILS, "check": "mailbox", "start": True})
        list_id = caller.call("POST", "/v1/lists", body).document["id"]
    # The list process is killed while it waits for answers, and while it collects them.
    for done in (1, 5, 9, 13, 17):
        wait_until(lambda: fetch_number(site, DONE) >= done, 120)  # noqa: B023
        kill(site, "run_probes", "run_lists")
    wait_until(lambda: state_of(site, list_id) == "completed", 120)
    assert "agree" in manage(site, "check_books")
    assert fetch_number(site, "SELECT SUM(credits) FROM credits_usehour") == 2 * len(EMAILS)
    assert fetch_number(site, "SELECT SUM(calls) FROM credits_usehour") == len(EMAILS)
    assert fetch_number(site, "SELECT SUM(charged) FROM credits_hold") == 2 * len(EMAILS)
    assert fetch_number(site, "SELECT SUM(held) FROM credits_wallet") == 0
    assert fetch_number(site, "SELECT deliverable FROM lists_addresslist") == len(EMAILS)
