import json
from pathlib import Path

import pytest
from django.db import connection

from tests.servers.gevent_process import run_patched


@pytest.mark.proof
def test_greenlets_that_wait_in_a_transaction_do_not_block_each_other(tmp_path: Path) -> None:
    outcome = json.loads(run_patched("tests.runtime.database.gevent_writers", tmp_path))
    # If a greenlet waited inside SQLite, it would block the whole process for 20 seconds.
    assert max(outcome["seconds"]) < 15
    expected = [f"{kind}.{number}" for kind in ("alone", "inside") for number in range(10)]
    assert outcome["written"] == sorted(expected)


@pytest.mark.django_db
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="SQLite only")
def test_commit_is_on_disk_before_the_response() -> None:
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.django_db
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only")
def test_postgresql_commits_to_disk() -> None:
    with connection.cursor() as cursor:
        for setting in ("fsync", "synchronous_commit"):
            cursor.execute(f"SHOW {setting}")
            assert cursor.fetchone() == ("on",)
