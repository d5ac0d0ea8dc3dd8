import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from django.db import OperationalError, connection

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


@pytest.mark.usefixtures("fresh_database")
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="SQLite only")
def test_connection_is_reused_unless_its_state_is_in_doubt_or_its_file_was_replaced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(connection.settings_dict, "MAX_IDLE_CONNECTIONS", 1)
    first = reconnect()
    assert reconnect() is first
    with pytest.raises(OperationalError), connection.cursor() as cursor:
        cursor.execute("SELECT * FROM missing")
    second = reconnect()
    assert second is not first
    file = Path(connection.settings_dict["NAME"])
    shutil.copy(file, tmp_path / "copy")
    (tmp_path / "copy").rename(file)
    assert reconnect() is not second


def reconnect() -> sqlite3.Connection:
    """Return the connection of the next request."""
    connection.close()
    connection.ensure_connection()
    opened = connection.connection
    assert isinstance(opened, sqlite3.Connection)
    return opened


@pytest.mark.django_db
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only")
def test_postgresql_commits_to_disk() -> None:
    with connection.cursor() as cursor:
        for setting in ("fsync", "synchronous_commit"):
            cursor.execute(f"SHOW {setting}")
            assert cursor.fetchone() == ("on",)
