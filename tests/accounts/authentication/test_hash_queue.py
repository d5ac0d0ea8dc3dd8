import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.gevent_process import run_patched


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("hashing")
    result: dict[str, Any] = json.loads(
        run_patched("tests.accounts.authentication.gevent_hashing", folder)
    )
    return result


def test_other_requests_of_the_worker_go_on_while_a_password_is_hashed(seen: Any) -> None:
    assert seen["turns"] > 0


def test_the_hashes_of_strangers_have_the_lowest_cpu_priority(seen: Any) -> None:
    assert seen["priority"] == 19
    assert seen["own priority"] < 19


def test_a_known_browser_does_not_wait_for_strangers(seen: Any) -> None:
    assert seen["order"] == ["known browser", "the other hash", "stranger"]


def test_a_killed_hash_process_is_replaced(seen: Any) -> None:
    assert seen["survives"]


def test_the_hash_process_ends_with_its_worker(seen: Any, tmp_path: Path) -> None:
    script = "tests.accounts.authentication.gevent_hashing"
    run_patched(script, tmp_path)
    lock_file = str(tmp_path / "password-hashes.lock")
    commands = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline"))
    assert not any(lock_file.encode() in command for command in commands)
