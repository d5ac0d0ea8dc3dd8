"""The TypeScript client's own tests."""

import json
import os
import subprocess

import pytest

from apikeys.errors import REFUSALS
from engine import VERDICT_BY_REASON
from tests.clients.typescript.build import build_client
from tests.servers.fault_proxy import fault_proxy
from tests.servers.keys import make_key
from tests.servers.product import Product

pytestmark = pytest.mark.process


@pytest.mark.parametrize("name", ["odd-responses", "types"])
def test_client_passes_its_tests_without_a_product(name: str) -> None:
    assert_tests_pass(name)


@pytest.mark.parametrize("name", ["client", "server", "webhooks"])
def test_client_passes_its_tests_with_a_product(site: Product, name: str) -> None:
    with fault_proxy(site.url, rate=1, seed=1) as stuck:
        stuck.kinds = ("stuck",)
        assert_tests_pass(
            name,
            SVC_API_KEY=make_key(site, f"{name}@typescript.example", 5_000),
            SVC_SLOW_KEY=make_key(site, f"slow-{name}@typescript.example", 70),
            SVC_BASE_URL=site.url,
            SVC_STUCK_URL=stuck.url,
            SANDBOX_REASONS=json.dumps(VERDICT_BY_REASON),
            SANDBOX_ERRORS=json.dumps({code: one.status for code, one in REFUSALS.items()}),
        )


def assert_tests_pass(name: str, **settings: str) -> None:
    process = subprocess.run(
        ["node", "--test", "--no-warnings", f"test/{name}.test.mjs"],
        cwd=build_client(),
        env={"PATH": os.environ["PATH"], **settings},
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert process.returncode == 0, process.stdout
    assert "# fail 0" in process.stdout
