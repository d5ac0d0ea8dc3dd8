"""A reload replaces the workers without failing or delaying requests."""

import http.client
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.server import supervisor
from tests.config.server.test_make_serve import children, command_line
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.keys import make_key
from tests.servers.product import ROOT, Product
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

# Seconds between the requests of a connection, from none to almost the keepalive timeout.
PAUSES = (0.0, 0.02, 0.02, 0.3, 0.9, 2.5, 4.0, 7.0)


@pytest.mark.proof
@pytest.mark.parametrize("wrong", ["syntax", "settings"])
def test_broken_code_is_not_reloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE")
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.chdir(ROOT)
    assert supervisor.can_reload()
    if wrong == "settings":
        monkeypatch.setenv("PORT", "none")
    else:
        shutil.copytree(ROOT / "config", tmp_path / "config")
        (tmp_path / "config" / "wsgi.py").write_text("half a line (")
        monkeypatch.chdir(tmp_path)
    assert not supervisor.can_reload()


class Caller(threading.Thread):
    """Send requests on one connection until a response closes it, and then on a new one.

    A connection that closes without such a response is a failed request.
    """

    def __init__(self, site: Product, secret: str, pause: float) -> None:
        super().__init__()
        self.caller, self.pause = HttpCaller(site, secret), pause
        self.stopping = threading.Event()
        self.responses: list[ClientResponse] = []
        self.failures: list[str] = []

    def run(self) -> None:
        while not self.stopping.wait(self.pause):
            try:
                self.responses.append(self.caller.validate("no address"))
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))

    def stop(self) -> None:
        self.stopping.set()
        self.join()
        self.caller.close()


@contextmanager
def calls(site: Product) -> Iterator[list[Caller]]:
    """Send requests in all rhythms for as long as the context lasts."""
    secret = make_key(site, "reloaded@shop.example", 1_000_000, 1_000_000)
    callers = [Caller(site, secret, pause) for pause in PAUSES]
    for caller in callers:
        caller.start()
    try:
        time.sleep(2)
        yield callers
    finally:
        for caller in callers:
            caller.stop()


def web_workers(site: Product) -> set[int]:
    """Return the children of gunicorn's main process, which may be a child of the supervisor."""
    family = [site.process.pid, *children(site.process.pid)]
    main = next(pid for pid in family if "gunicorn" in command_line(pid))
    return set(children(main))


def wait_for_new_workers(site: Product, old: set[int]) -> None:
    wait_until(lambda: (new := web_workers(site)) and not old & new)


def assert_no_call_failed(callers: list[Caller]) -> None:
    assert [caller.failures for caller in callers] == [[]] * len(PAUSES)
    responses = [response for caller in callers for response in caller.responses]
    assert {response.status for response in responses} == {200}
    # The old workers closed their connections.
    assert any(response.headers.get("Connection") == "close" for response in responses)


def longest_call(callers: list[Caller]) -> float:
    return max(response.seconds for caller in callers for response in caller.responses)


@pytest.mark.fault
def test_reload_under_load_neither_fails_nor_delays_requests(tmp_path: Path) -> None:
    launched_at = time.monotonic()
    site = Product(tmp_path)
    try:
        site.wait_until_ready()
        startup_seconds = time.monotonic() - launched_at
        with calls(site) as callers:
            old = web_workers(site)
            os.kill(site.process.pid, signal.SIGHUP)
            wait_for_new_workers(site, old)
    finally:
        site.stop()
    assert_no_call_failed(callers)
    # No request waited for a new worker to load.
    assert longest_call(callers) < startup_seconds / 2
