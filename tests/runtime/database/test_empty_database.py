"""In production, an empty database counts as a failed restore, unless an option says otherwise."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.servers.postgres import postgres, prepend_postgres_programs
from tests.servers.product import ROOT
from tests.servers.production import ENVIRONMENT
from tests.servers.programs import run_program
from tests.servers.redis import free_port

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as url:
        yield url


@pytest.fixture
def production(server: str, tmp_path: Path) -> dict[str, str]:
    return {
        **ENVIRONMENT,
        "DATABASE_URL": server,
        "DATA_DIR": str(tmp_path),
        "PORT": str(free_port()),
        "WEB_WORKERS": "1",
    }


def tables(server: str) -> int:
    with psycopg.connect(server) as database:
        cursor = database.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        return int((cursor.fetchone() or [0])[0])


def assert_suggests_restore_and_migrate(output: str) -> None:
    (line,) = (line for line in output.splitlines() if "no tables" in line)
    assert "manage.py restore" in line
    assert "manage.py migrate --new-database" in line
    assert "Traceback" not in output


@pytest.mark.parametrize(
    "command",
    [["manage.py", "migrate"], ["-m", "config.server.supervisor"]],
    ids=["migrate", "serve"],
)
def test_tables_are_not_created_in_production_without_the_option(
    production: dict[str, str], server: str, command: list[str]
) -> None:
    process = run_program(*command, **production)
    assert process.returncode == 1
    assert len(process.stderr.splitlines()) == 1
    assert_suggests_restore_and_migrate(process.stderr)
    assert tables(server) == 0


@pytest.mark.proof
def test_web_server_exits_in_production_if_there_are_no_tables(
    production: dict[str, str], server: str
) -> None:
    gunicorn = ["-m", "gunicorn", "--config", "config/server/gunicorn_settings.py", "config.wsgi"]
    process = subprocess.run(
        [sys.executable, *gunicorn, "--bind", f"127.0.0.1:{production['PORT']}"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **production},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert process.returncode == 3
    assert_suggests_restore_and_migrate(process.stderr)
    assert tables(server) == 0


@pytest.mark.proof
def test_restore_fills_an_empty_production_database(tmp_path: Path) -> None:
    with postgres() as server:
        environment = {**ENVIRONMENT, "DATABASE_URL": server, "DATA_DIR": str(tmp_path)}
        environment["PATH"] = prepend_postgres_programs(os.environ["PATH"])
        backup = str(tmp_path / "backup")
        for command in (["migrate", "--new-database"], ["migrate"], ["back_up", backup]):
            assert run_program("manage.py", *command, **environment).returncode == 0, command
        with psycopg.connect(server, autocommit=True) as database:
            database.execute("CREATE DATABASE restored")
        environment["DATABASE_URL"] = server.replace("/postgres?", "/restored?")
        process = run_program("manage.py", "restore", backup, **environment)
        assert "agree" in process.stdout, process.stderr
        assert run_program("manage.py", "check_books", **environment).returncode == 0


def test_command_reports_missing_tables_in_one_line(tmp_path: Path) -> None:
    process = run_program("manage.py", "check_books", DATA_DIR=str(tmp_path))
    assert process.returncode == 1
    (line,) = process.stderr.splitlines()
    assert line.endswith("The database has no tables yet. Run manage.py migrate.")
    # A file would block a later restore.
    assert not (tmp_path / "db.sqlite3").exists()


def test_process_logs_in_production_that_there_are_no_tables(production: dict[str, str]) -> None:
    process = run_program("manage.py", "run_worker", **production)
    assert process.returncode == 1
    record = json.loads(process.stderr)
    assert record["level"] == "critical"
    assert_suggests_restore_and_migrate(record["message"])
