"""The Python client through a network that fails."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.faults import assert_faults_cost_nothing
from tests.servers.product import ROOT, Product, product

PROGRAM = [sys.executable, str(Path(__file__).with_name("calls_through_faults.py"))]
SOURCES = ROOT / "clients" / "python" / "src"

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product(tmp_path_factory.mktemp("product"), WEB_WORKERS="1") as running:
        yield running


@pytest.mark.parametrize(
    "calls", [300, pytest.param(10_000, marks=[pytest.mark.proof, pytest.mark.timeout(600)])]
)
def test_faults_never_charge_twice_nor_pass_the_deadline(site: Product, calls: int) -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCES)}
    assert_faults_cost_nothing(site, PROGRAM, calls, cwd=ROOT, env=env)
