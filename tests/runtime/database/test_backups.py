"""back_up and restore: whole or not at all, and never over what is there."""

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
from pytest_django import Settings

from accounts.models import Account, User
from accounts.services import note_confirmed, open_account
from apikeys.services import create_key
from credits.models import LedgerEntry
from tests.conftest import make_user
from tests.servers.postgres import with_its_programs
from tests.support.api_client import ApiClient
from tests.support.fresh_database import as_admin

pytestmark = pytest.mark.usefixtures("fresh_database", "programs")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", with_its_programs(os.environ["PATH"]))


@pytest.fixture
def caller(fresh_database: None) -> ApiClient:
    owner = make_user("owner@shop.example")
    account = open_account(user=owner, name="The Shop")
    note_confirmed(user=owner)
    return ApiClient(create_key(account=account, name="Server", actor=owner)[1])


@pytest.fixture
def backup(caller: ApiClient, tmp_path: Path) -> Path:
    """Of one customer, who has called."""
    assert caller.validate("no address").status_code == 200
    path = tmp_path / "night.backup"
    call_command("back_up", str(path), stdout=StringIO())
    return path


@contextmanager
def no_database(folder: Path) -> Iterator[None]:
    """Another machine, which has none yet."""
    settings, before = connection.settings_dict, connection.settings_dict["NAME"]
    connection.close()
    is_sqlite = connection.vendor == "sqlite"
    # Another one beside it may run the same test.
    new = f"restored_{os.getpid()}"
    settings["NAME"] = str(folder / "new.sqlite3") if is_sqlite else new
    try:
        if not is_sqlite:
            as_admin(f"CREATE DATABASE {new}")
        yield
    finally:
        connection.close()
        settings["NAME"] = before
        if not is_sqlite:
            as_admin(f"DROP DATABASE {new} WITH (FORCE)")


def restore(path: Path, *options: str) -> str:
    output = StringIO()
    call_command("restore", str(path), *options, stdout=output)
    return output.getvalue()


def is_empty() -> bool:
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite" and not Path(name).exists():
        # To ask it would make it.
        return True
    return connection.introspection.table_names() == []


def test_what_was_restored_serves_as_before(
    backup: Path, caller: ApiClient, tmp_path: Path
) -> None:
    with no_database(tmp_path):
        said = restore(backup)
        answer = caller.validate("no address")
        assert answer.json()["credits"] == {"charged": 1, "remaining": 98}
        # New rows get new numbers.
        make_user("later@shop.example")
        call_command("grant_credits", "owner@shop.example", "5", reason="Sorry", stdout=StringIO())
        with pytest.raises(DatabaseError):
            LedgerEntry.objects.update(amount=1_000_000)
    assert "is whole" in said
    assert "The books of 1 account agree." in said
    assert Account.objects.get().wallet.balance == 99


def test_it_is_for_one_person_and_holds_no_secret(
    backup: Path, caller: ApiClient, settings: Settings
) -> None:
    with ZipFile(backup) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    for name in ("API_KEY_PEPPER", "ADDRESS_HASH_KEY", "SECRET_KEY"):
        assert getattr(settings, name).encode() not in everything
    assert str(caller.secret).encode() not in everything
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert [path.name for path in backup.parent.iterdir() if "backup" in path.name] == [backup.name]


def test_in_a_folder_it_is_named_by_the_time(caller: ApiClient, tmp_path: Path) -> None:
    output = StringIO()
    call_command("back_up", str(tmp_path), stdout=output)
    (made,) = tmp_path.glob("email-validation-*Z.backup")
    assert output.getvalue() == f"{made}\n"


def test_nothing_that_is_there_is_written_over(backup: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(CommandError, match="is there already"):
        call_command("back_up", str(backup))
    with pytest.raises(CommandError, match="No such file or directory"):
        call_command("back_up", str(backup.parent / "missing" / "night.backup"))
    assert backup.read_bytes() == before
    make_user("newer@shop.example")
    with pytest.raises(CommandError, match=r"there already|is not empty"):
        restore(backup)
    assert User.objects.filter(email="newer@shop.example").exists()


def damages(backup: Path) -> Iterator[bytes]:
    """It was cut, or a piece of it is another. (One bit alone may mean the same once unpacked.)"""
    whole = backup.read_bytes()
    with ZipFile(backup) as archive:
        data = archive.infolist()[0]
        begin, end = data.header_offset + 100, data.compress_size
    for part in range(10):
        yield whole[: len(whole) * part // 10]
    yield whole[:-1]
    for place in range(begin, end, (end - begin) // 10):
        piece = bytes(byte ^ 255 for byte in whole[place : place + 16])
        yield whole[:place] + piece + whole[place + len(piece) :]


def test_damage_is_noticed_before_anything_is_made(backup: Path, tmp_path: Path) -> None:
    with no_database(tmp_path):
        for damaged in damages(backup):
            backup.write_bytes(damaged)
            for options in ([], ["--check"]):
                with pytest.raises(CommandError, match="is damaged"):
                    restore(backup, *options)
        for name in ("serve.log", "missing.backup"):
            (tmp_path / "serve.log").write_text("something else")
            with pytest.raises(CommandError, match=r"or no backup|There is no file"):
                restore(tmp_path / name)
        assert is_empty()


def test_a_dump_that_its_own_database_refuses_leaves_nothing(backup: Path, tmp_path: Path) -> None:
    """Its check sums are right: it was damaged before they were made."""
    with ZipFile(backup) as archive:
        note = archive.read("note.json")
        name = json.loads(note)["database"]
        dump = archive.read(name)
    middle = len(dump) // 2
    with ZipFile(tmp_path / "odd.backup", "w", ZIP_DEFLATED) as archive:
        archive.writestr(name, dump[:middle] + b"\xff" * 9000 + dump[middle + 9000 :])
        archive.writestr("note.json", note)
    with no_database(tmp_path):
        with pytest.raises(CommandError, match=r"damaged|failed"):
            restore(tmp_path / "odd.backup")
        assert is_empty()


def test_other_secrets_are_named_before_anything_is_made(
    backup: Path, tmp_path: Path, settings: Settings
) -> None:
    pepper, other = settings.API_KEY_PEPPER, "another text of fifty characters, made for this test"
    settings.API_KEY_PEPPER = settings.ADDRESS_HASH_KEY = other
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = other, [settings.SECRET_KEY]
    with no_database(tmp_path):
        with pytest.raises(CommandError, match=r"first: API_KEY_PEPPER, ADDRESS_HASH_KEY\."):
            restore(backup)
        settings.API_KEY_PEPPER_PREVIOUS = pepper
        with pytest.raises(CommandError, match=r"first: ADDRESS_HASH_KEY\."):
            restore(backup)
        assert is_empty()
        assert "agree" in restore(backup, "--with-other-secrets")


def test_a_pepper_that_was_replaced_since_may_stand_as_the_previous_one(
    backup: Path, caller: ApiClient, tmp_path: Path, settings: Settings
) -> None:
    settings.API_KEY_PEPPER_PREVIOUS = settings.API_KEY_PEPPER
    settings.API_KEY_PEPPER = "another text of fifty characters, made for this test"
    with no_database(tmp_path):
        restore(backup)
        assert caller.get("/v1/me").status_code == 200


def test_a_backup_of_the_other_database_is_refused(backup: Path, tmp_path: Path) -> None:
    other = {"database": "other", "made_at": "2026-11-22", "secrets": {}}
    with ZipFile(tmp_path / "other.backup", "w") as archive:
        archive.writestr("other", b"rows")
        archive.writestr("note.json", json.dumps(other))
    with no_database(tmp_path), pytest.raises(CommandError, match="holds other"):
        restore(tmp_path / "other.backup")


def test_the_journal_of_an_old_database_keeps_a_new_one_away(backup: Path, tmp_path: Path) -> None:
    """SQLite would play it into the new one."""
    if connection.vendor != "sqlite":
        pytest.skip("of SQLite alone")
    with no_database(tmp_path):
        (tmp_path / "new.sqlite3-wal").write_bytes(b"old")
        with pytest.raises(CommandError, match=r"new\.sqlite3-wal"):
            restore(backup)
        assert not (tmp_path / "new.sqlite3").exists()


def test_a_damaged_database_is_not_backed_up(backup: Path, tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("of SQLite alone")
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


def test_where_postgresql_s_programs_are_missing_it_says_so(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("of PostgreSQL alone")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match="pg_dump is not there"):
        call_command("back_up", str(tmp_path / "second.backup"))
    assert not [path for path in tmp_path.iterdir() if "second" in path.name]
