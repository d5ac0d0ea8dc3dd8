"""The commands of docs/operations.md do what the page says: on real databases, under load."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from tests.servers.books import assert_books_agree, number
from tests.servers.client import HttpAnswer, HttpCaller, calls_coming
from tests.servers.keys import make_key
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.runbook import Machine

pytestmark = [pytest.mark.process, pytest.mark.fault, pytest.mark.timeout(300)]

CREDITS = 100_000
EMAIL = "restored@shop.example"


def back_up_under_load(site: Product, machine: Machine, name: str, **variables: str) -> str:
    """The key of a customer who called all the time."""
    secret = make_key(site, EMAIL, 1_000_000, CREDITS)
    with calls_coming(site, secret) as answers:
        wait_for_more(answers)
        machine.run(name, **variables)
        wait_for_more(answers)
    assert {answer.status for answer in answers} == {200}
    return secret


def wait_for_more(answers: list[HttpAnswer], count: int = 50) -> None:
    before = len(answers)
    while len(answers) < before + count:
        time.sleep(0.02)


def assert_serves_as_before(site: Product, secret: str, used_at_the_end: int) -> None:
    used = number(site, "SELECT SUM(credits) FROM credits_usehour")
    assert 50 <= used < used_at_the_end
    caller = HttpCaller(site, secret)
    answer = caller.validate("no address")
    caller.close()
    assert answer.document["credits"] == {"charged": 1, "remaining": CREDITS - used - 1}
    assert_books_agree(site, answered={answer.document["id"]})


def test_sqlite_is_backed_up_under_load_and_restored(tmp_path: Path) -> None:
    data, backups = tmp_path / "data", tmp_path / "machine" / "backups"
    places = {"DATA_DIR": str(data), "BACKUPS": str(backups)}
    machine = Machine(tmp_path / "machine", DATA_DIR=str(data))
    with product(data, WEB_WORKERS="1") as site:
        secret = back_up_under_load(site, machine, "sqlite-backup", **places)
        used = number(site, "SELECT SUM(credits) FROM credits_usehour")
    shutil.rmtree(data / "secrets")
    site.log.unlink()
    assert "agree" in machine.run("sqlite-restore", **places)
    with product(data, WEB_WORKERS="1") as site:
        assert_serves_as_before(site, secret, used)


@contextmanager
def database_of_the_product() -> Iterator[tuple[str, dict[str, str]]]:
    """Its URL, and where its superuser finds the server. The product's own user is none."""
    with postgres() as url, psycopg.connect(url, autocommit=True) as admin:
        (folder,) = parse_qs(urlsplit(url).query)["host"]
        admin.execute("CREATE ROLE validation LOGIN PASSWORD 'invented'")
        admin.execute("CREATE DATABASE validation OWNER validation")
        host = folder.replace("/", "%2F")
        given = f"postgres://validation:invented@/validation?host={host}"
        yield given, {"PGHOST": folder, "PGUSER": "postgres"}


def test_postgresql_is_backed_up_under_load_and_restored(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with database_of_the_product() as (url, superuser):
        machine = Machine(tmp_path / "machine", DATA_DIR=str(data), DATABASE_URL=url)
        with product(data, DATABASE_URL=url, WEB_WORKERS="1") as site:
            secret = back_up_under_load(site, machine, "postgresql-backup")
            used = number(site, "SELECT SUM(credits) FROM credits_usehour")
        site.log.unlink()
        assert "agree" in machine.run("postgresql-restore", **superuser)
        (restored,) = re.findall("DATABASE_URL=(.+)", machine.settings)
        assert "/restored?" in restored
        with product(data, DATABASE_URL=restored, WEB_WORKERS="1") as site:
            assert_serves_as_before(site, secret, used)


def test_postgresql_goes_back_to_the_moment_before_an_accident() -> None:
    with cluster() as (machine, given):
        machine.run("wal-backup", **given)
        moment = pay_then_lose_everything(given)
        pg_ctl(machine, given, "stop")
        Path(given["PGDATA"]).rename(f"{given['PGDATA']}.old")
        machine.run("wal-restore", MOMENT=moment, **given)
        with psycopg.connect(host=given["PGHOST"], user="postgres") as database:
            assert database.execute("SELECT * FROM paid").fetchall() == [(1,), (2,)]


def pay_then_lose_everything(given: dict[str, str]) -> str:
    with psycopg.connect(host=given["PGHOST"], user="postgres", autocommit=True) as database:
        database.execute("CREATE TABLE paid AS SELECT 1 AS number")
        database.execute("INSERT INTO paid VALUES (2)")
        moment = database.execute("SELECT clock_timestamp()").fetchone()
        database.execute("DELETE FROM paid")
    assert moment
    return str(moment[0])


@contextmanager
def cluster() -> Iterator[tuple[Machine, dict[str, str]]]:
    # PostgreSQL does not run as root, and what belongs to pytest is closed to others.
    user = "nobody" if os.geteuid() == 0 else None
    with TemporaryDirectory(prefix="moment-") as name:
        folder = Path(name)
        machine = Machine(folder / "machine", user=user)
        (folder / "archive").mkdir()
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, user or os.geteuid())
        places = {"PGDATA": "data", "BASE": "base", "ARCHIVE": "archive"}
        given = {where: str(folder / path) for where, path in places.items()}
        given |= {"PGHOST": name, "PGUSER": "postgres", "PGDATABASE": "postgres"}
        machine.execute("initdb --username=postgres --auth=trust --no-instructions", given)
        conf = f"listen_addresses = ''\nunix_socket_directories = '{name}'\n"
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.write(conf)
        pg_ctl(machine, given, "start")
        try:
            yield machine, given
        finally:
            pg_ctl(machine, given, "stop")


def pg_ctl(machine: Machine, given: dict[str, str], act: str) -> None:
    machine.execute(f"pg_ctl {act} --wait --silent --log $PGHOST/server.log", given)
