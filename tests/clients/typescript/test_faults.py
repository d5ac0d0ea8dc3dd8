"""The TypeScript client through a network that fails."""

import os
from collections.abc import Iterator

import pytest

from tests.clients.faults import assert_faults_cost_nothing
from tests.clients.typescript.build import build_client
from tests.servers.product import Product, product

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product(tmp_path_factory.mktemp("product"), WEB_WORKERS="1") as running:
        yield running


@pytest.mark.parametrize(
    "calls", [300, pytest.param(10_000, marks=[pytest.mark.proof, pytest.mark.timeout(600)])]
)
def test_faults_never_charge_twice_nor_pass_the_deadline(site: Product, calls: int) -> None:
    program = ["node", "test/calls-through-faults.mjs"]
    env = {"PATH": os.environ["PATH"]}
    assert_faults_cost_nothing(site, program, calls, cwd=build_client(), env=env)
