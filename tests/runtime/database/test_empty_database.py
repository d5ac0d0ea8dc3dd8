"""An empty database in production is a restore that failed, until an operator says otherwise."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.servers.postgres import postgres, with_its_programs
from tests.servers.product import ROOT
from tests.servers.production import ENVIRONMENT
from tests.servers.redis import free_port

pytestmark = pytest.mark.process

COMMANDS = [
    ["check_books"],
    ["create_account", "jane@shop.example"],
    ["create_key", "jane@shop.example", "--name", "Server"],
    ["grant_credits", "jane@shop.example", "5", "--reason", "A test"],
    ["run_daily"],
    ["run_worker"],
    ["back_up", "/nowhere/backup"],
]


def run(*command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


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
        found = database.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        return int((found.fetchone() or [0])[0])


def assert_names_both_ways(said: str) -> None:
    (line,) = (line for line in said.splitlines() if "no tables" in line)
    assert "manage.py restore" in line
    assert "manage.py migrate --new-database" in line
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "command",
    [["manage.py", "migrate"], ["-m", "config.server.supervisor"]],
    ids=["migrate", "serve"],
)
def test_in_production_nothing_creates_tables_unasked(
    production: dict[str, str], server: str, command: list[str]
) -> None:
    ended = run(*command, **production)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert_names_both_ways(ended.stderr)
    assert tables(server) == 0


@pytest.mark.proof
def test_in_production_a_web_server_stops_without_tables(
    production: dict[str, str], server: str
) -> None:
    gunicorn = ["-m", "gunicorn", "--config", "config/server/gunicorn_settings.py", "config.wsgi"]
    ended = run(*gunicorn, "--bind", f"127.0.0.1:{production['PORT']}", **production)
    assert ended.returncode == 3
    assert_names_both_ways(ended.stderr)
    assert tables(server) == 0


def test_commands_name_both_ways_in_production(production: dict[str, str]) -> None:
    ended = run("manage.py", "check_books", **production)
    assert ended.returncode == 1
    assert_names_both_ways(ended.stderr)


@pytest.mark.proof
def test_an_operator_creates_the_tables_of_a_new_service(tmp_path: Path) -> None:
    with postgres() as server:
        given = {**ENVIRONMENT, "DATABASE_URL": server, "DATA_DIR": str(tmp_path)}
        assert run("manage.py", "migrate", "--new-database", **given).returncode == 0
        assert run("manage.py", "migrate", **given).returncode == 0
        assert run("manage.py", "check_books", **given).returncode == 0


@pytest.mark.proof
def test_a_restore_fills_an_empty_production_database(tmp_path: Path) -> None:
    with postgres() as server:
        given = {**ENVIRONMENT, "DATABASE_URL": server, "DATA_DIR": str(tmp_path)}
        given["PATH"] = with_its_programs(os.environ["PATH"])
        backup = str(tmp_path / "backup")
        assert run("manage.py", "migrate", "--new-database", **given).returncode == 0
        assert run("manage.py", "back_up", backup, **given).returncode == 0
        with psycopg.connect(server, autocommit=True) as database:
            database.execute("CREATE DATABASE restored")
        given["DATABASE_URL"] = server.replace("/postgres?", "/restored?")
        ended = run("manage.py", "restore", backup, **given)
        assert "agree" in ended.stdout, ended.stderr
        assert run("manage.py", "migrate", **given).returncode == 0


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_a_command_without_tables_says_so_in_one_line(tmp_path: Path, command: list[str]) -> None:
    ended = run("manage.py", *command, DATA_DIR=str(tmp_path))
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.endswith("The database has no tables yet. Run manage.py migrate.")
    # A file would be in the way of a restore.
    assert not (tmp_path / "db.sqlite3").exists()
