"""`make serve` as a newcomer meets it, and what it bears: real processes on a real port."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bench.load import Address
from tests.bench.slow_clients import HALF_A_HEAD, SILENCE, slow_clients
from tests.servers.browser import PlainBrowser
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.product import ROOT, Product, product, text_of

pytestmark = pytest.mark.process


class NewProduct(Product):
    is_prepared = False


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def first_output(folder: Path) -> str:
    """What the first start of all said."""
    first = NewProduct(folder)
    try:
        first.wait_until_ready()
        assert answers(first) == 200
    finally:
        first.stop()
    said = first.output()
    first.log.unlink()
    return said


@pytest.fixture(scope="module")
def served(folder: Path, first_output: str) -> Iterator[Product]:
    """It was started before."""
    with product(folder) as running:
        yield running


def answers(running: Product, path: str = "/accounts/login/") -> int:
    with urllib.request.urlopen(running.url + path, timeout=10) as answer:
        return int(answer.status)


def children(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(line) for line in listed.stdout.split()]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def child_of(running: Product, word: str) -> int:
    return next(pid for pid in children(running.process.pid) if word in command_of(pid))


def workers(running: Product) -> list[int]:
    return [pid for pid in children(running.process.pid) if "run_worker" in command_of(pid)]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def happens(event: Callable[[], bool], seconds: float = 15) -> bool:
    """Waits for it, as long as it may take."""
    deadline = time.monotonic() + seconds
    while not event() and time.monotonic() < deadline:
        time.sleep(0.05)
    return event()


def test_the_first_start_prints_an_owner_and_later_starts_do_not(
    first_output: str, served: Product
) -> None:
    assert "owner@example.com" in first_output
    found = re.search(r"password +(\S{12,})", first_output)
    assert found
    assert not re.search(r"password +\S{12,}", served.output())
    assert f"Sign in at {served.url}/accounts/login/" in served.output()
    browser = PlainBrowser(served.url)
    overview = browser.send("/accounts/login/", login="owner@example.com", password=found[1])
    assert "Sign out" in overview


def test_everything_it_keeps_lies_in_the_data_folder(served: Product) -> None:
    assert (served.folder / "db.sqlite3").exists()
    assert (served.folder / "counters.sqlite3").parent == served.folder
    assert answers(served, "/static/favicon.svg") == 200


def test_where_metrics_are_off_nothing_is_measured(served: Product) -> None:
    assert not (served.folder / "metrics").exists()


def test_a_port_that_is_taken_is_named_with_the_way_out(served: Product, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "config.server.supervisor"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path), "PORT": str(served.port)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert f"Port {served.port} is in use" in ended.stderr
    assert "make serve" in ended.stderr


@pytest.mark.proof
def test_two_hundred_silent_and_two_hundred_half_sent_connections_hold_up_nobody(
    served: Product,
) -> None:
    caller = HttpCaller(served, make_key(served, "slow@shop.example"))
    address = Address("127.0.0.1", served.port)
    with slow_clients(address, 200, SILENCE), slow_clients(address, 200, HALF_A_HEAD):
        assert [answers(served) for _ in range(20)] == [200] * 20
        verdicts = [caller.validate("deliverable@sandbox.test").status for _ in range(20)]
    assert verdicts == [200] * 20
    caller.close()


@pytest.mark.proof
def test_a_thousand_clients_are_no_more_than_a_process_may_have(served: Product) -> None:
    allowed = Path(f"/proc/{workers(served)[0]}/limits").read_text()
    (soft, hard) = re.findall(r"Max open files +(\d+) +(\d+)", allowed)[0]
    assert int(soft) == min(65_536, int(hard))


@pytest.mark.proof
def test_a_client_that_never_finishes_its_head_is_let_go(served: Product) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as slow:
        slow.sendall(HALF_A_HEAD)
        assert slow.recv(1000) == b""


@pytest.mark.fault
@pytest.mark.proof
def test_a_silent_mail_server_does_not_keep_it_from_stopping(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        email_url = f"smtp://127.0.0.1:{silent.getsockname()[1]}"
        running = Product(tmp_path, EMAIL_URL=email_url)
        try:
            running.wait_until_ready()
            PlainBrowser(running.url).send("/accounts/password/reset/", email="owner@example.com")
            silent.settimeout(10)
            waiting, _ = silent.accept()
        finally:
            started = time.monotonic()
            running.stop()
        waiting.close()
        assert time.monotonic() - started < 30


def test_a_body_larger_than_any_page_needs_is_refused(served: Product) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as client:
        head = (
            b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999999\r\n\r\n"
        )
        client.sendall(head + b"x" * 3_200_000)
        assert client.recv(100).startswith(b"HTTP/1.1 413")


def test_a_background_worker_that_dies_is_started_again(served: Product) -> None:
    (worker,) = workers(served)
    os.kill(worker, signal.SIGKILL)
    assert happens(lambda: bool(set(workers(served)) - {worker}))
    assert answers(served) == 200


def test_a_web_worker_that_dies_is_replaced(served: Product) -> None:
    web = child_of(served, "gunicorn")
    killed = children(web)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    assert happens(lambda: len(set(children(web)) - set(killed)) == 2)
    assert answers(served) == 200


def test_the_worker_sends_the_mails_that_pages_promise(served: Product) -> None:
    PlainBrowser(served.url).send("/accounts/password/reset/", email="owner@example.com")
    mail = served.newest_mail("owner@example.com", "password")
    assert f"{served.url}/accounts/password/reset/key/" in text_of(mail)


@pytest.mark.proof
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_running_when_it_ends(tmp_path: Path, number: signal.Signals) -> None:
    running = Product(tmp_path)
    running.wait_until_ready()
    family = [pid for child in children(running.process.pid) for pid in (child, *children(child))]
    running.process.send_signal(number)
    running.process.wait(timeout=40)
    assert happens(lambda: not any(is_alive(pid) for pid in family), seconds=40)
