"""New code takes over from old under load, and nobody notices."""

import http.client
import os
import signal
import threading
import time
from pathlib import Path

import psutil
import pytest

from config.server import supervisor
from config.server.graceful_reload import GracefulReload
from tests.servers.client import HttpAnswer, HttpCaller
from tests.servers.keys import make_key
from tests.servers.product import ROOT, Product

pytestmark = pytest.mark.process

# Between two requests of one connection: who hammers, who calls now and then, who has kept a
# connection for almost as long as it may be idle.
PAUSES = (0.0, 0.02, 0.02, 0.3, 0.9, 2.5, 4.0, 7.0)


def test_old_workers_stay_until_all_new_ones_are_ready() -> None:
    handover = GracefulReload()
    for age in (1, 2):
        handover.note_ready(age)
    assert not handover.is_for(2)
    handover.begin(2, 2)
    assert [handover.is_for(age) for age in (1, 2, 3)] == [True, True, False]
    assert not handover.is_ready()
    handover.note_ready(4)
    assert not handover.is_ready()
    # One that died on its way is replaced by a younger one.
    handover.note_ready(5)
    assert handover.is_ready()
    handover.begin(5, 2)
    assert not handover.is_ready()
    assert handover.is_for(5)


@pytest.mark.parametrize("wrong", ["syntax", "settings"])
def test_code_that_does_not_start_is_not_changed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE")
    if wrong == "settings":
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("PORT", "none")
    else:
        (tmp_path / "config").mkdir()
        (tmp_path / "config" / "wsgi.py").write_text("half a line (")
        monkeypatch.chdir(tmp_path)
    assert not supervisor.starts()


class Caller(threading.Thread):
    """On one connection, as long as no answer said that it is the last there. A connection that
    ends without that is a failed request."""

    def __init__(self, site: Product, secret: str, pause: float) -> None:
        super().__init__()
        self.caller, self.pause = HttpCaller(site, secret), pause
        self.stopping = threading.Event()
        self.answers: list[HttpAnswer] = []
        self.failures: list[str] = []

    def run(self) -> None:
        while not self.stopping.wait(self.pause):
            try:
                self.answers.append(self.caller.validate("no address"))
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))

    def stop(self) -> None:
        self.stopping.set()
        self.join()
        self.caller.close()


def workers(site: Product) -> set[int]:
    served = psutil.Process(site.process.pid).children(recursive=True)
    gunicorn = {one.pid for one in served if one.ppid() == site.process.pid}
    return {one.pid for one in served if one.ppid() in gunicorn}


def until_new(site: Product, old: set[int]) -> None:
    deadline = time.monotonic() + 60
    while not (new := workers(site)) or old & new:
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.fault
def test_a_reload_under_load_fails_no_request_and_keeps_nobody_waiting(tmp_path: Path) -> None:
    begun = time.monotonic()
    site = Product(tmp_path)
    try:
        site.wait_until_ready()
        took_to_start = time.monotonic() - begun
        secret = make_key(site, "reloaded@shop.example", 1_000_000, 1_000_000)
        callers = [Caller(site, secret, pause) for pause in PAUSES]
        for caller in callers:
            caller.start()
        time.sleep(2)
        old = workers(site)
        os.kill(site.process.pid, signal.SIGHUP)
        until_new(site, old)
        for caller in callers:
            caller.stop()
    finally:
        site.stop()
    assert [caller.failures for caller in callers] == [[]] * len(PAUSES)
    answers = [answer for caller in callers for answer in caller.answers]
    assert {answer.status for answer in answers} == {200}
    # Those of the old worker that were told.
    assert any(answer.headers.get("Connection") == "close" for answer in answers)
    # Nobody waited for a new worker to be there.
    assert max(answer.seconds for answer in answers) < took_to_start / 4


@pytest.mark.fault
def test_an_idle_connection_does_not_keep_the_product_from_stopping(tmp_path: Path) -> None:
    site = Product(tmp_path, WEB_WORKERS="1")
    try:
        site.wait_until_ready()
        idle = http.client.HTTPConnection("127.0.0.1", site.port, timeout=20)
        idle.request("GET", "/healthz")
        assert idle.getresponse().read() == b'{"status":"ok"}'
        asked = time.monotonic()
        site.process.send_signal(signal.SIGTERM)
        # The end of the stream, in good order.
        assert idle.sock.recv(1) == b""
        assert time.monotonic() - asked < 8
        idle.close()
    finally:
        site.stop()
    assert "Traceback" not in site.output()
