"""Each client calls through a network that fails, and what it got is compared with the ledger."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.typescript.build import build_client
from tests.servers.books import fetch_number, fetch_rows
from tests.servers.fault_proxy import FAULTS, fault_proxy
from tests.servers.keys import make_key, manage
from tests.servers.product import ROOT, Product

pytestmark = pytest.mark.process

FAULT_RATE = 0.3
DEADLINE = 20.0
# A deadline ends a call, and then the caller must get a turn of the machine.
TOLERANCE = 1.0


@dataclass(frozen=True)
class Outcome:
    """What a client's program prints about each of its calls."""

    address: str
    # The result's ID. Empty: an error.
    result: str
    error: str
    seconds: float


PYTHON_ENVIRONMENT = {"PYTHONPATH": str(ROOT / "clients" / "python" / "src")}


def find_program(language: str) -> tuple[list[str], Path, dict[str, str]]:
    """Return the command, folder and environment of a program that makes calls with the client."""
    if language == "python":
        file = Path(__file__).with_name("python") / "calls_through_faults.py"
        return [sys.executable, str(file)], ROOT, PYTHON_ENVIRONMENT
    return ["node", "test/calls-through-faults.mjs"], build_client(), {}


@pytest.mark.parametrize("language", ["python", "typescript"])
@pytest.mark.parametrize(
    "calls", [120, pytest.param(10_000, marks=[pytest.mark.proof, pytest.mark.timeout(600)])]
)
def test_faults_never_charge_twice_nor_pass_the_deadline(
    site: Product, language: str, calls: int
) -> None:
    program, cwd, env = find_program(language)
    key = make_key(site, f"faults-{language}-{calls}@clients.example", 1_000_000, credits=calls)
    before = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
    last = fetch_number(site, "SELECT MAX(id) FROM validation_logentry")
    with fault_proxy(site.url, FAULT_RATE, seed=calls) as proxy:
        settings = {"SVC_API_KEY": key, "SVC_BASE_URL": proxy.url}
        process = subprocess.run(
            [*program, str(calls), str(DEADLINE)],
            cwd=cwd,
            env={"PATH": os.environ["PATH"], **env, **settings},
            check=False,
            capture_output=True,
            text=True,
            timeout=60 + calls,
        )
    assert process.returncode == 0, process.stderr
    outcomes = [Outcome(**json.loads(line)) for line in process.stdout.splitlines()]
    assert len(outcomes) == calls
    assert proxy.faults.keys() == set(FAULTS)
    assert max(one.seconds for one in outcomes) <= DEADLINE + TOLERANCE
    errors = Counter(one.error for one in outcomes if one.error)
    assert errors.total() <= max(3, calls / 100), errors

    charged = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour") - before
    columns = "result_id, address_hash FROM validation_logentry"
    logged = fetch_rows(site, f"SELECT {columns} WHERE cost = 1 AND id > {last}")
    # No address was charged twice. A call without an answer may have been charged, once.
    assert max(Counter(address for _, address in logged).values()) == 1
    answered = {one.result for one in outcomes if one.result}
    assert len(answered) <= charged <= calls
    assert answered <= {result for result, _ in logged}
    assert "agree" in manage(site, "check_books")
