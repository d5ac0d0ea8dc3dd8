"""What a start prepares: everything the first time, and later only what has changed."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from config.server.prepare import static_fingerprint
from runtime.database.applied_migrations import OBSOLETE_DATABASE
from tests.servers.product import ROOT, prepare_folder
from tests.servers.programs import run_program
from tests.servers.release import Release

pytestmark = pytest.mark.process

# Prints the migrations that the start has read.
PROGRAM = """
import sys
from config.server.prepare import load_settings, prepare
load_settings()
prepare()
print("Migrations:", *(name for name in sys.modules if ".migrations.0" in name))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the data folder of an instance that has been prepared before."""
    data = tmp_path / "data"
    data.mkdir()
    prepare_folder(data, on_sqlite=True)
    return data


def prepare(folder: Path, **environment: str) -> str:
    """Prepare a start with this data folder, and return the migrations it has read."""
    process = run_program("-c", PROGRAM, DATA_DIR=str(folder), **environment)
    process.check_returncode()
    return process.stdout.partition("Migrations:")[2].strip()


def query(folder: Path, statement: str) -> list[tuple[int]]:
    with closing(sqlite3.connect(folder / "db.sqlite3")) as database, database:
        return database.execute(statement).fetchall()


@pytest.mark.parametrize(
    "metrics", [{"METRICS_PORT": "9100"}, pytest.param({}, marks=pytest.mark.proof)]
)
def test_second_start_reads_no_migration(
    folder: Path, tmp_path: Path, metrics: dict[str, str]
) -> None:
    """With the metrics folder that the units set."""
    assert prepare(folder, PROMETHEUS_MULTIPROC_DIR=str(tmp_path / "metrics"), **metrics) == ""


@pytest.mark.proof
def test_another_database_is_migrated(folder: Path) -> None:
    (folder / "db.sqlite3").unlink()
    assert "credits.migrations.0001_initial" in prepare(folder)
    assert query(folder, "SELECT count(*) FROM credits_wallet") == [(1,)]


@pytest.mark.proof
def test_migration_of_a_new_release_is_applied(folder: Path, tmp_path: Path) -> None:
    Release(tmp_path / "release", "CREATE TABLE later (number integer)")
    environment = {
        "PYTHONPATH": str(tmp_path / "release"),
        "DJANGO_SETTINGS_MODULE": "release_settings",
    }
    assert "later.migrations.0001_change" in prepare(folder, **environment)
    assert query(folder, "SELECT count(*) FROM later") == [(0,)]
    assert prepare(folder, **environment) == ""


def test_database_of_replaced_migrations_is_refused(folder: Path) -> None:
    old = "SET name = '0003_plans_and_packs' WHERE name = '0003_catalog'"
    query(folder, f"UPDATE django_migrations {old}")
    process = run_program("-c", PROGRAM, DATA_DIR=str(folder))
    assert process.returncode == 1
    assert process.stderr.strip() == OBSOLETE_DATABASE


@pytest.mark.proof
def test_interrupted_migrate_is_completed(folder: Path) -> None:
    """It was interrupted after the migrations, while it created permissions and groups."""
    count = "SELECT count(*) FROM auth_group_permissions"
    granted = query(folder, count)
    query(folder, "DELETE FROM auth_group_permissions")
    query(folder, "DELETE FROM auth_permission")
    assert prepare(folder) == ""
    assert query(folder, count) == granted


@pytest.mark.proof
def test_files_collected_by_an_interrupted_start_are_collected_again(folder: Path) -> None:
    collected = folder / "collected-static"
    icon = collected / "favicon.svg"
    # What a start leaves that ends while it collects.
    icon.unlink()
    (collected / ".stamp").write_text("")
    prepare(folder)
    assert icon.exists()
    assert (collected / ".stamp").read_text() == static_fingerprint(ROOT)


@pytest.mark.proof
def test_start_leaves_files_alone_that_a_release_contains(folder: Path, tmp_path: Path) -> None:
    static = tmp_path / "static"
    shutil.move(folder / "collected-static", static)
    (static / "favicon.svg").unlink()
    (static / ".stamp").write_text("of another release")
    prepare(folder, STATIC_ROOT=str(static))
    assert not (static / "favicon.svg").exists()
    assert not (folder / "collected-static").exists()


def test_every_change_of_static_files_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    style, lock = tmp_path / "static/a.css", tmp_path / "requirements.lock"
    for file in (style, tmp_path / "static/b.css", lock):
        file.write_text("before")
        os.utime(file, (1000, 1000))
    before = static_fingerprint(tmp_path)
    assert static_fingerprint(tmp_path) == before
    seen = {before}
    style.write_text("longer than it was before")
    os.utime(style, (1000, 1000))
    seen.add(static_fingerprint(tmp_path))
    os.utime(style, (500, 500))
    seen.add(static_fingerprint(tmp_path))
    renamed = style.rename(tmp_path / "static/c.css")
    seen.add(static_fingerprint(tmp_path))
    renamed.unlink()
    seen.add(static_fingerprint(tmp_path))
    lock.touch()
    seen.add(static_fingerprint(tmp_path))
    assert len(seen) == 6
