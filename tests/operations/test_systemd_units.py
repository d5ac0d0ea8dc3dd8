"""The shipped systemd units: metrics survive each restart."""

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.config.server.test_make_serve import get_status
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.redis import free_port
from tests.servers.systemd import WebUnit, WorkerUnit
from tests.servers.web_workers import replace_web_workers
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault, pytest.mark.timeout(300)]


@contextmanager
def web_unit(folder: Path, **environment: str) -> Iterator[WebUnit]:
    # The log of an earlier start says that it is ready.
    (folder / "serve.log").unlink(missing_ok=True)
    unit = WebUnit(folder, **environment)
    try:
        unit.wait_until_ready()
        yield unit
    finally:
        unit.stop()


@contextmanager
def worker_unit(web: WebUnit) -> Iterator[None]:
    unit = WorkerUnit(web)
    try:
        yield
    finally:
        unit.stop()


def read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as response:
        return str(response.read().decode())


def charges(port: int) -> float:
    """Return the total, or -1 while the worker that serves it starts."""
    try:
        lines = read(f"http://127.0.0.1:{port}/metrics").splitlines()
    except OSError:
        return -1
    totals = [
        line.split()[1]
        for line in lines
        if line.startswith("emailvalidation_credits_charged_total")
    ]
    return sum(map(float, totals))


def test_totals_of_the_metrics_survive_until_both_units_stop(tmp_path: Path) -> None:
    port = free_port()
    with web_unit(tmp_path, METRICS_PORT=str(port)) as site:
        with worker_unit(site):
            caller = HttpCaller(site, make_key(site, "counted@shop.example", 1000, 1000))
            for _ in range(10):
                assert caller.validate("no address").status == 200
            caller.close()
            wait_until(lambda: charges(port) == 10)
            replace_web_workers(site)
            assert charges(port) == 10
        with worker_unit(site):
            wait_until(lambda: charges(port) == 10)
            site.stop()
            with web_unit(tmp_path, METRICS_PORT=str(port)):
                assert charges(port) == 10
    with web_unit(tmp_path, METRICS_PORT=str(port)) as site, worker_unit(site):
        assert get_status(site) == 200
        wait_until(lambda: charges(port) == 0)
