"""Calls through the fault proxy, by any client, compared with the ledger."""

import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.servers.books import fetch_number, fetch_rows
from tests.servers.fault_proxy import FAULTS, fault_proxy
from tests.servers.keys import make_key, manage
from tests.servers.product import Product

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


def assert_faults_cost_nothing(
    site: Product, program: list[str], calls: int, *, cwd: Path, env: dict[str, str]
) -> None:
    """Run the program, which makes that many calls and prints an outcome for each as JSON."""
    key = make_key(site, f"faults-{calls}@clients.example", 1_000_000, credits=calls)
    before = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
    with fault_proxy(site.url, FAULT_RATE, seed=calls) as proxy:
        settings = {"SVC_API_KEY": key, "SVC_BASE_URL": proxy.url}
        process = subprocess.run(
            [*program, str(calls), str(DEADLINE)],
            cwd=cwd,
            env={**env, **settings},
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
    assert errors.total() <= calls / 100, errors

    charged = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour") - before
    logged = fetch_rows(
        site, "SELECT result_id, address_hash FROM validation_logentry WHERE cost = 1"
    )
    # No address was charged twice. A call without an answer may have been charged, once.
    assert max(Counter(address for _, address in logged).values()) == 1
    answered = {one.result for one in outcomes if one.result}
    assert len(answered) <= charged <= calls
    assert answered <= {result for result, _ in logged}
    assert "agree" in manage(site, "check_books")
