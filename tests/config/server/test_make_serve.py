"""`make serve`: the first start, slow clients, killed workers, and stopping."""

import os
import re
import signal
import socket
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.bench.load import Address
from tests.bench.slow_clients import HALF_A_HEAD, SILENCE, slow_clients
from tests.servers.browser import PlainBrowser
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.product import Product, plain_text, product
from tests.servers.programs import run_program
from tests.support.waiting import wait_until

# Its two starts, one of them with an empty folder, take ten seconds of CPU.
pytestmark = [pytest.mark.process, pytest.mark.proof]


class NewProduct(Product):
    is_prepared = False


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def first_output(folder: Path) -> str:
    """Return the output of the first start."""
    first = NewProduct(folder)
    try:
        first.wait_until_ready()
        assert get_status(first) == 200
    finally:
        first.stop()
    output = first.output()
    first.log.unlink()
    return output


@pytest.fixture(scope="module")
def served(folder: Path, first_output: str) -> Iterator[Product]:
    """A product that has been started before."""
    with product(folder) as running:
        yield running


def get_status(running: Product, path: str = "/accounts/login/") -> int:
    with urllib.request.urlopen(running.url + path, timeout=10) as response:
        return int(response.status)


def children(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children()]


def command_line(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.NoSuchProcess:
        return ""


def find_child(running: Product, word: str) -> int:
    return next(pid for pid in children(running.process.pid) if word in command_line(pid))


def background_workers(running: Product) -> list[int]:
    return [pid for pid in children(running.process.pid) if "run_worker" in command_line(pid)]


def is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_only_the_first_start_prints_the_owners_credentials(
    first_output: str, served: Product
) -> None:
    assert "owner@example.com" in first_output
    assert re.search(r"docs at http://\S+/docs/$", first_output, re.M)
    match = re.search(r"password +(\S{12,})", first_output)
    assert match
    assert not re.search(r"password +\S{12,}", served.output())
    assert f"Sign in at {served.url}/accounts/login/" in served.output()
    browser = PlainBrowser(served.url)
    overview = browser.send("/accounts/login/", login="owner@example.com", password=match[1])
    assert "Sign out" in overview


def test_all_data_is_in_the_data_folder(served: Product) -> None:
    assert (served.folder / "db.sqlite3").exists()
    assert (served.folder / "counters.sqlite3").parent == served.folder
    assert get_status(served, "/static/favicon.svg") == 200
    # They are off.
    assert not (served.folder / "metrics").exists()


def test_supervisor_loads_neither_django_nor_what_the_start_needed(served: Product) -> None:
    files = Path(f"/proc/{served.process.pid}/maps").read_text()
    # The compiled modules of the database and of cryptography.
    assert not re.search("sqlite3|psycopg|cryptography", files)
    assert psutil.Process(served.process.pid).memory_full_info().uss < 25 * 1024 * 1024


def test_port_in_use_is_reported_with_a_solution(served: Product, tmp_path: Path) -> None:
    environment = {"DATA_DIR": str(tmp_path), "PORT": str(served.port)}
    ended = run_program("-m", "config.server.supervisor", **environment)
    assert ended.returncode == 1
    assert f"Port {served.port} is in use" in ended.stderr
    assert "make serve" in ended.stderr


def test_slow_clients_do_not_block_other_requests(served: Product) -> None:
    caller = HttpCaller(served, make_key(served, "slow@shop.example"))
    address = Address("127.0.0.1", served.port)
    with slow_clients(address, 200, SILENCE), slow_clients(address, 200, HALF_A_HEAD):
        assert [get_status(served) for _ in range(20)] == [200] * 20
        verdicts = [caller.validate("deliverable@sandbox.test").status for _ in range(20)]
    assert verdicts == [200] * 20
    caller.close()


def test_limit_of_open_files_is_raised(served: Product) -> None:
    process_limits = Path(f"/proc/{background_workers(served)[0]}/limits").read_text()
    (soft, hard) = re.findall(r"Max open files +(\d+) +(\d+)", process_limits)[0]
    assert int(soft) == min(65_536, int(hard))


def test_client_that_never_finishes_its_head_is_disconnected(served: Product) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as slow:
        slow.sendall(HALF_A_HEAD)
        assert slow.recv(1000) == b""


@pytest.mark.fault
def test_silent_mail_server_does_not_delay_stopping(tmp_path: Path) -> None:
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


def test_killed_background_worker_is_restarted(served: Product) -> None:
    (worker,) = background_workers(served)
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: bool(set(background_workers(served)) - {worker}))
    assert get_status(served) == 200


def test_killed_web_worker_is_replaced(served: Product) -> None:
    web = find_child(served, "gunicorn")
    killed = children(web)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: len(set(children(web)) - set(killed)) == 2)
    assert get_status(served) == 200


def test_background_worker_sends_emails(served: Product) -> None:
    PlainBrowser(served.url).send("/accounts/password/reset/", email="owner@example.com")
    mail = served.wait_for_email("owner@example.com", "password")
    assert f"{served.url}/accounts/password/reset/key/" in plain_text(mail)


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.fault)]
)
def test_no_process_outlives_the_supervisor(tmp_path: Path, number: signal.Signals) -> None:
    running = Product(tmp_path)
    running.wait_until_ready()
    started = psutil.Process(running.process.pid).children(recursive=True)
    running.process.send_signal(number)
    running.process.wait(timeout=40)
    wait_until(lambda: not any(map(is_alive, started)), seconds=40)
