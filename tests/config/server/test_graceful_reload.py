"""A reload replaces the workers without failing or delaying requests."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.server import supervisor
from tests.config.server.test_make_serve import children, command_line
from tests.servers.client import steady_calls
from tests.servers.keys import make_key
from tests.servers.product import ROOT, Product, product
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


def web_workers(site: Product) -> set[int]:
    """Return the children of gunicorn's main process, which may be a child of the supervisor."""
    family = [site.process.pid, *children(site.process.pid)]
    main = next(pid for pid in family if "gunicorn" in command_line(pid))
    return set(children(main))


def wait_for_new_workers(site: Product, old: set[int]) -> None:
    wait_until(lambda: (new := web_workers(site)) and not old & new)


@contextmanager
def calls_without_failure_or_delay(site: Product, startup_seconds: float) -> Iterator[None]:
    """Send requests in all rhythms, none of which may fail or wait for a new worker to load."""
    secret = make_key(site, "reloaded@shop.example", 1_000_000, 1_000_000)
    with steady_calls(site, secret, PAUSES) as responses:
        time.sleep(2)
        yield
    assert {response.status for response in responses} == {200}
    # The old workers closed their connections.
    assert any(response.headers.get("Connection") == "close" for response in responses)
    assert max(response.seconds for response in responses) < startup_seconds / 2


@pytest.mark.fault
def test_reload_under_load_neither_fails_nor_delays_requests(tmp_path: Path) -> None:
    launched_at = time.monotonic()
    with (
        product(tmp_path) as site,
        calls_without_failure_or_delay(site, time.monotonic() - launched_at),
    ):
        old = web_workers(site)
        os.kill(site.process.pid, signal.SIGHUP)
        wait_for_new_workers(site, old)
        assert not old & web_workers(site)
