"""Strangers who try passwords block neither customers from the API nor users from the dashboard."""

import fcntl
import select
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from accounts.authentication.machine_slots import MachineSlots
from accounts.authentication.sign_in_queue import QUEUE_SIZE
from tests.bench.load import Address, Load, Outcome, generate
from tests.bench.sign_ins import LOGIN, wrong_sign_in
from tests.servers.browser import PlainBrowser
from tests.servers.client import HttpCaller
from tests.servers.keys import make_account
from tests.servers.postgres import postgres_server
from tests.servers.product import Product, product
from tests.servers.raw_http import read_response

pytestmark = [pytest.mark.process, pytest.mark.fault]

EMAIL = "jane@shop.example"
STRANGERS, SECONDS = 100, 12.0
ATTEMPTS = tuple(wrong_sign_in(number)[1] for number in range(STRANGERS))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("flood")
    environment = {"WEB_WORKERS": "2", "WEB_THREADS": "3", "TRUSTED_PROXIES": "1"}
    with (
        postgres_server() as postgres,
        product(folder, DATABASE_URL=postgres.url, **environment) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def customer(site: Product) -> tuple[str, str]:
    """Return the customer's password and API key."""
    return make_account(site, EMAIL, "--requests-per-minute", "100000", "--credits", "100000")


@contextmanager
def strangers(site: Product, number: int = STRANGERS) -> Iterator["Future[Outcome]"]:
    """Let strangers, each with their own IP address, repeat a wrong sign-in."""
    address = Address("127.0.0.1", site.port)
    attempts = Load(address, ATTEMPTS, number, SECONDS, 10, statuses=None)
    with ThreadPoolExecutor(1) as executor:
        flood = executor.submit(generate, attempts)
        time.sleep(1)
        yield flood


def test_no_call_with_a_valid_key_is_refused_while_strangers_sign_in(
    site: Product, customer: tuple[str, str]
) -> None:
    server = HttpCaller(site, customer[1])
    with strangers(site) as flood:
        calls = [server.validate(f"jane.{number}@shop.example") for number in range(60)]
        assert not flood.done()
    assert {call.status for call in calls} == {200}
    assert set(flood.result().by_status) <= {200, 503}
    assert flood.result().by_status[503]


def test_known_browser_signs_in_while_strangers_try_passwords(
    site: Product, customer: tuple[str, str]
) -> None:
    browser = PlainBrowser(site.url)
    fields = {"login": EMAIL, "password": customer[0]}
    assert "Overview" in browser.send(LOGIN, **fields)
    browser.send("/accounts/logout/")
    with strangers(site) as flood:
        assert "Overview" in browser.send(LOGIN, **fields)
        assert not flood.done()


def test_queue_holds_32_sign_ins_across_all_workers(site: Product) -> None:
    wait_until_the_queue_is_empty(site)
    with ExitStack() as stack:
        lock = stack.enter_context((site.folder / "password-hashes.lock").open("ab"))
        # Hold the lock, so that no hash is computed until all strangers are connected.
        fcntl.flock(lock, fcntl.LOCK_EX)
        connections = [stack.enter_context(connect(site)) for _ in range(STRANGERS)]
        for number, connection in enumerate(connections, STRANGERS):
            # Use new addresses: those of the other tests have exhausted their limits by now.
            connection.sendall(wrong_sign_in(number)[1])
        refused = wait_for_responses(connections, STRANGERS - QUEUE_SIZE)
        fcntl.flock(lock, fcntl.LOCK_UN)
        queued = [connection for connection in connections if connection not in refused]
        assert [read_response(connection).status for connection in queued] == [200] * QUEUE_SIZE
        for page in map(read_response, refused):
            assert page.status == 503
            assert b"Too many people are signing in. Try again in a few seconds." in page.body
            assert page.headers["Retry-After"] == "5"
            assert page.headers["Content-Security-Policy"]


def wait_until_the_queue_is_empty(site: Product) -> None:
    slots = MachineSlots(site.folder / "sign-ins.lock", QUEUE_SIZE)
    deadline = time.monotonic() + 60
    taken_slots: list[int] = []
    while len(taken_slots) < QUEUE_SIZE and time.monotonic() < deadline:
        slot = slots.take()
        taken_slots += [] if slot is None else [slot]
        time.sleep(0.01)
    for slot in taken_slots:
        slots.free(slot)


def connect(site: Product) -> socket.socket:
    return socket.create_connection(("127.0.0.1", site.port), timeout=60)


def wait_for_responses(connections: list[socket.socket], count: int) -> list[socket.socket]:
    """Wait for this many responses, and return the connections that received one."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        readable = select.select(connections, [], [], 1)[0]
        if len(readable) >= count:
            return readable
        time.sleep(0.1)
    raise TimeoutError(f"{len(readable)} of {count} responses received.")
