"""Backups are complete or absent, and a restore never overwrites a database."""

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from io import StringIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from credits.models import LedgerEntry
from runtime.jobs.machine_metrics import BACKUP
from runtime.models import Lease
from tests.conftest import create_owners_key, make_user, sign_up_owner
from tests.servers.postgres import prepend_postgres_programs
from tests.support.api_client import ApiClient
from tests.support.fresh_database import execute_as_admin

pytestmark = pytest.mark.usefixtures("fresh_database", "programs")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", prepend_postgres_programs(os.environ["PATH"]))


@pytest.fixture
def caller(fresh_database: None) -> ApiClient:
    return ApiClient(create_owners_key(sign_up_owner()))


@pytest.fixture
def backup(caller: ApiClient, tmp_path: Path) -> Path:
    """A backup of a database with one customer, who has sent one request."""
    assert caller.validate("no address").status_code == 200
    path = tmp_path / "night.backup"
    call_command("back_up", str(path), stdout=StringIO())
    assert Lease.objects.get(name=BACKUP).done_for == timezone.now().date()
    return path


@contextmanager
def new_machine(folder: Path) -> Iterator[None]:
    """Use another, empty database, as on a new machine."""
    settings, before = connection.settings_dict, connection.settings_dict["NAME"]
    connection.close()
    is_sqlite = connection.vendor == "sqlite"
    # Another test process may run the same test.
    new = f"restored_{os.getpid()}"
    settings["NAME"] = str(folder / "new.sqlite3") if is_sqlite else new
    try:
        if not is_sqlite:
            execute_as_admin(f"CREATE DATABASE {new}")
        yield
    finally:
        connection.close()
        settings["NAME"] = before
        if not is_sqlite:
            execute_as_admin(f"DROP DATABASE {new} WITH (FORCE)")


def restore(path: Path, *options: str) -> str:
    output = StringIO()
    call_command("restore", str(path), *options, stdout=output)
    return output.getvalue()


def is_empty() -> bool:
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite" and not Path(name).exists():
        # Connecting would create it.
        return True
    return connection.introspection.table_names() == []


def test_restored_database_works_as_before(backup: Path, caller: ApiClient, tmp_path: Path) -> None:
    with new_machine(tmp_path):
        output = restore(backup)
        response = caller.validate("no address")
        assert response.json()["credits"] == {"charged": 1, "held": 0, "remaining": 98}
        # The id sequences were restored too.
        make_user("later@shop.example")
        call_command("grant_credits", "owner@shop.example", "5", reason="Sorry", stdout=StringIO())
        with pytest.raises(DatabaseError):
            LedgerEntry.objects.update(amount=1_000_000)
    assert "is complete" in output
    assert "The books of 1 account agree." in output
    assert Account.objects.get().wallet.balance == 99


def test_backup_is_readable_by_its_owner_only_and_contains_no_secret(
    backup: Path, caller: ApiClient, settings: Settings
) -> None:
    with ZipFile(backup) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    for name in ("API_KEY_PEPPER", "ADDRESS_HASH_KEY", "SECRET_KEY"):
        assert getattr(settings, name).encode() not in content
    assert str(caller.secret).encode() not in content
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert [path.name for path in backup.parent.iterdir() if "backup" in path.name] == [backup.name]


def test_backup_in_a_folder_is_named_by_the_time(caller: ApiClient, tmp_path: Path) -> None:
    output = StringIO()
    call_command("back_up", str(tmp_path), stdout=output)
    (path,) = tmp_path.glob("email-validation-*Z.backup")
    assert output.getvalue() == f"{path}\n"


def test_existing_files_and_databases_are_not_overwritten(backup: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(CommandError, match="already exists"):
        call_command("back_up", str(backup))
    with pytest.raises(CommandError, match="No such file or directory"):
        call_command("back_up", str(backup.parent / "missing" / "night.backup"))
    assert backup.read_bytes() == before
    make_user("newer@shop.example")
    with pytest.raises(CommandError, match=r"already exists|is not empty"):
        restore(backup)
    assert User.objects.filter(email="newer@shop.example").exists()


def damaged_versions(backup: Path) -> Iterator[bytes]:
    """Yield truncated versions, and versions with 16 changed bytes.

    A single changed bit may not change the decompressed data.
    """
    content = backup.read_bytes()
    with ZipFile(backup) as archive:
        data = archive.infolist()[0]
        begin, end = data.header_offset + 100, data.compress_size
    for tenths in range(10):
        yield content[: len(content) * tenths // 10]
    yield content[:-1]
    for start in range(begin, end, (end - begin) // 10):
        changed = bytes(byte ^ 255 for byte in content[start : start + 16])
        yield content[:start] + changed + content[start + len(changed) :]


def test_damage_is_detected_before_anything_is_restored(backup: Path, tmp_path: Path) -> None:
    with new_machine(tmp_path):
        for damaged in damaged_versions(backup):
            backup.write_bytes(damaged)
            for options in ([], ["--check"]):
                with pytest.raises(CommandError, match="is damaged"):
                    restore(backup, *options)
        for name in ("serve.log", "missing.backup"):
            (tmp_path / "serve.log").write_text("something else")
            with pytest.raises(CommandError, match=r"or not a backup|There is no file"):
                restore(tmp_path / name)
        assert is_empty()


def test_dump_that_cannot_be_loaded_leaves_the_database_empty(backup: Path, tmp_path: Path) -> None:
    """The checksums are right: the dump was damaged before they were calculated."""
    with ZipFile(backup) as archive:
        note = archive.read("note.json")
        name = json.loads(note)["database"]
        dump = archive.read(name)
    middle = len(dump) // 2
    with ZipFile(tmp_path / "odd.backup", "w", ZIP_DEFLATED) as archive:
        archive.writestr(name, dump[:middle] + b"\xff" * 9000 + dump[middle + 9000 :])
        archive.writestr("note.json", note)
    with new_machine(tmp_path):
        with pytest.raises(CommandError, match=r"damaged|failed"):
            restore(tmp_path / "odd.backup")
        assert is_empty()


def test_missing_secrets_are_listed_before_anything_is_restored(
    backup: Path, tmp_path: Path, settings: Settings
) -> None:
    pepper, other = settings.API_KEY_PEPPER, "another text of fifty characters, made for this test"
    settings.API_KEY_PEPPER = settings.ADDRESS_HASH_KEY = other
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = other, [settings.SECRET_KEY]
    with new_machine(tmp_path):
        with pytest.raises(CommandError, match=r"made with: API_KEY_PEPPER, ADDRESS_HASH_KEY\."):
            restore(backup)
        settings.API_KEY_PEPPER_PREVIOUS = pepper
        with pytest.raises(CommandError, match=r"made with: ADDRESS_HASH_KEY\."):
            restore(backup)
        assert is_empty()
        assert "agree" in restore(backup, "--with-other-secrets")


def test_restore_accepts_a_rotated_pepper_as_the_previous_one(
    backup: Path, caller: ApiClient, tmp_path: Path, settings: Settings
) -> None:
    settings.API_KEY_PEPPER_PREVIOUS = settings.API_KEY_PEPPER
    settings.API_KEY_PEPPER = "another text of fifty characters, made for this test"
    with new_machine(tmp_path):
        restore(backup)
        assert caller.get("/v1/me").status_code == 200


def test_backup_of_another_database_engine_is_refused(backup: Path, tmp_path: Path) -> None:
    other = {"database": "other", "made_at": "2026-11-22", "secrets": {}}
    with ZipFile(tmp_path / "other.backup", "w") as archive:
        archive.writestr("other", b"rows")
        archive.writestr("note.json", json.dumps(other))
    with new_machine(tmp_path), pytest.raises(CommandError, match="contains other"):
        restore(tmp_path / "other.backup")


def test_wal_file_of_an_old_database_blocks_a_restore(backup: Path, tmp_path: Path) -> None:
    """SQLite would replay it into the new database."""
    if connection.vendor != "sqlite":
        pytest.skip("SQLite only")
    with new_machine(tmp_path):
        (tmp_path / "new.sqlite3-wal").write_bytes(b"old")
        with pytest.raises(CommandError, match=r"new\.sqlite3-wal"):
            restore(backup)
        assert not (tmp_path / "new.sqlite3").exists()


def test_damaged_database_is_not_backed_up(backup: Path, tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite only")
    file = Path(connection.settings_dict["NAME"])
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with file.open("r+b") as damaged:
        damaged.seek(40_960)
        damaged.write(b"\xff" * 4096 * 20)
    with pytest.raises(CommandError, match="SQLite"):
        call_command("back_up", str(tmp_path / "second.backup"))
    assert not (tmp_path / "second.backup").exists()


def test_missing_postgresql_client_programs_are_reported(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("PostgreSQL only")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match="pg_dump was not found"):
        call_command("back_up", str(tmp_path / "second.backup"))
    assert not [path for path in tmp_path.iterdir() if "second" in path.name]
