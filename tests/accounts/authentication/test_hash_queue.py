import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.gevent_process import run_patched


@pytest.fixture(scope="module")
def observations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("hashing")
    result: dict[str, Any] = json.loads(
        run_patched("tests.accounts.authentication.gevent_hashing", folder)
    )
    return result


def test_hashing_does_not_block_other_requests_of_the_worker(observations: Any) -> None:
    assert observations["ticks"] > 0


def test_hashes_for_strangers_have_the_lowest_cpu_priority(observations: Any) -> None:
    assert observations["priority"] == 19
    assert observations["own priority"] < 19


def test_known_browser_does_not_wait_for_strangers(observations: Any) -> None:
    assert observations["order"] == ["known browser", "other hash", "stranger"]


def test_killed_hash_process_is_replaced(observations: Any) -> None:
    assert observations["survives"]


def test_hash_process_ends_with_its_worker(observations: Any, tmp_path: Path) -> None:
    script = "tests.accounts.authentication.gevent_hashing"
    run_patched(script, tmp_path)
    lock_file = str(tmp_path / "password-hashes.lock")
    commands = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline"))
    assert not any(lock_file.encode() in command for command in commands)
