"""The shipped systemd units: a reload fails no request, and metrics survive each restart."""

import shutil
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.config.server.test_graceful_reload import (
    calls_without_failure_or_delay,
    wait_for_new_workers,
    web_workers,
)
from tests.config.server.test_make_serve import eventually, get_status
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.product import PACKAGES, ROOT
from tests.servers.redis import free_port
from tests.servers.systemd import WebUnit, WorkerUnit

pytestmark = [pytest.mark.process, pytest.mark.fault, pytest.mark.timeout(300)]


@contextmanager
def web_unit(folder: Path, program: Path = ROOT, **environment: str) -> Iterator[WebUnit]:
    # The log of an earlier start says that it is ready.
    (folder / "serve.log").unlink(missing_ok=True)
    unit = WebUnit(folder, program, **environment)
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


def test_reload_of_the_web_unit_neither_fails_nor_delays_requests(tmp_path: Path) -> None:
    launched_at = time.monotonic()
    with (
        web_unit(tmp_path) as site,
        calls_without_failure_or_delay(site, time.monotonic() - launched_at),
    ):
        for _ in range(2):
            old = web_workers(site)
            assert site.reload()
            wait_for_new_workers(site, old)
            assert len(web_workers(site)) == 2


def copy_program(target: Path) -> Path:
    for name in PACKAGES:
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("manage.py", "pyproject.toml", "requirements.lock", "static", "templates"):
        (target / name).symlink_to(ROOT / name)
    return target


def test_reload_loads_new_code_unless_it_is_broken(tmp_path: Path) -> None:
    program = copy_program(tmp_path / "program")
    wsgi, health = program / "config" / "wsgi.py", program / "config" / "health.py"
    working = wsgi.read_text()
    with web_unit(tmp_path / "data", program) as site:
        old = web_workers(site)
        wsgi.write_text("half a line (")
        assert not site.reload()
        time.sleep(1)
        assert web_workers(site) == old
        assert read(site.url + "/healthz") == '{"status":"ok"}'
        wsgi.write_text(working)
        health.write_text(health.read_text().replace('UNAVAILABLE = "ok"', 'UNAVAILABLE = "new"'))
        assert site.reload()
        wait_for_new_workers(site, old)
        assert read(site.url + "/healthz") == '{"status":"new"}'


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
            assert eventually(lambda: charges(port) == 10)
            old = web_workers(site)
            assert site.reload()
            wait_for_new_workers(site, old)
            assert charges(port) == 10
        with worker_unit(site):
            assert eventually(lambda: charges(port) == 10)
            site.stop()
            with web_unit(tmp_path, METRICS_PORT=str(port)):
                assert charges(port) == 10
    with web_unit(tmp_path, METRICS_PORT=str(port)) as site, worker_unit(site):
        assert get_status(site) == 200
        assert eventually(lambda: charges(port) == 0)
