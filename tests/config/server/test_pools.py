"""The pools of web workers: their ports and sizes."""

import runpy

import pytest

from tests.servers.product import ROOT
from tests.servers.programs import run_program

SIZES = {"PORT": "9000", "WEB_WORKERS": "4", "BULK_WORKERS": "2", "PAGE_WORKERS": "3"}


@pytest.mark.parametrize(
    ("pool", "bind", "workers"),
    [
        ("", "127.0.0.1:9000", 4),
        ("api", "127.0.0.1:9000", 4),
        ("bulk", "127.0.0.1:9001", 2),
        ("pages", "127.0.0.1:9002", 3),
    ],
)
def test_each_pool_has_its_port_and_size(
    monkeypatch: pytest.MonkeyPatch, pool: str, bind: str, workers: int
) -> None:
    for name, value in {**SIZES, "WEB_POOL": pool}.items():
        monkeypatch.setenv(name, value)
    settings = runpy.run_path(str(ROOT / "config" / "server" / "gunicorn_settings.py"))
    assert (settings["bind"], settings["workers"]) == (bind, workers)


@pytest.mark.parametrize(("pool", "workers"), [("all", "4 4"), ("api", "4 9"), ("pages", "3 9")])
def test_limits_of_a_machine_are_shared_by_all_pools(pool: str, workers: str) -> None:
    code = "from config.settings import *; print(POOL_WORKERS, MACHINE_WORKERS)"
    assert run_program("-c", code, **SIZES, WEB_POOL=pool).stdout.strip() == workers
