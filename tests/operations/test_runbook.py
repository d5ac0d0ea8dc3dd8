"""The backup and restore commands of docs/operations/backups.md, on real databases under load."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from tests.servers.books import assert_books_agree, fetch_number
from tests.servers.client import HttpCaller, steady_calls, wait_for_more
from tests.servers.keys import make_key
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.runbook import Machine
from tests.servers.tcp_postgres import oldest_programs, tcp_postgres

pytestmark = [pytest.mark.process, pytest.mark.fault, pytest.mark.timeout(300)]

CREDITS = 100_000
EMAIL = "restored@shop.example"
# Runs the command of `docker compose exec --no-TTY postgres COMMAND…`, and nothing else.
MOVED_TO = '#!/bin/sh\n[ "$2" != down ] || sed -i "s#^DATABASE_URL=.*#DATABASE_URL=%s#" %s\n'
DOCKER = '#!/bin/sh\n[ "$2" = exec ] || exit 0\nshift 4\nexec "$@"\n'


def back_up_under_load(site: Product, machine: Machine, name: str, **variables: str) -> str:
    """Back up while a customer makes calls; return the customer's API key."""
    secret = make_key(site, EMAIL, 1_000_000, CREDITS)
    with steady_calls(site, secret) as responses:
        wait_for_more(responses)
        machine.run(name, **variables)
        wait_for_more(responses)
    assert {response.status for response in responses} == {200}
    return secret


def assert_serves_as_before(site: Product, secret: str, used_at_the_end: int) -> None:
    used = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
    assert 50 <= used < used_at_the_end
    caller = HttpCaller(site, secret)
    response = caller.validate("no address")
    assert response.document["credits"] == {
        "charged": 1,
        "held": 0,
        "remaining": CREDITS - used - 1,
    }
    assert_books_agree(site, answered={response.document["id"]})


def test_sqlite_backup_under_load_can_be_restored(tmp_path: Path) -> None:
    data, backups = tmp_path / "data", tmp_path / "machine" / "backups"
    variables = {"DATA_DIR": str(data), "BACKUPS": str(backups)}
    machine = Machine(tmp_path / "machine", DATA_DIR=str(data))
    with product(data, WEB_WORKERS="1") as site:
        secret = back_up_under_load(site, machine, "sqlite-backup", **variables)
        used = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
    shutil.rmtree(data / "secrets")
    site.log.unlink()
    assert "agree" in machine.run("sqlite-restore", **variables)
    with product(data, WEB_WORKERS="1") as site:
        assert_serves_as_before(site, secret, used)


@contextmanager
def product_database() -> Iterator[tuple[str, dict[str, str]]]:
    """Create a database; yield its URL for an unprivileged user, and a superuser's environment."""
    with postgres() as admin_url, psycopg.connect(admin_url, autocommit=True) as admin:
        (folder,) = parse_qs(urlsplit(admin_url).query)["host"]
        admin.execute("CREATE ROLE validation LOGIN PASSWORD 'invented'")
        admin.execute("CREATE DATABASE validation OWNER validation")
        host = folder.replace("/", "%2F")
        url = f"postgres://validation:invented@/validation?host={host}"
        yield url, {"PGHOST": folder, "PGUSER": "postgres"}


@pytest.mark.parametrize("block", ["postgresql-restore", "container-restore"])
def test_postgresql_backup_under_load_can_be_restored(tmp_path: Path, block: str) -> None:
    data = tmp_path / "data"
    with product_database() as (url, superuser):
        machine = Machine(tmp_path / "machine", DATA_DIR=str(data), DATABASE_URL=url)
        with product(data, DATABASE_URL=url, WEB_WORKERS="1") as site:
            secret = back_up_under_load(site, machine, "postgresql-backup")
            used = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
        site.log.unlink()
        if block == "container-restore":
            machine.write_program("docker", DOCKER)
            # As PostgreSQL's image does.
            machine.execute('psql -c "ALTER ROLE validation SUPERUSER"', superuser)
        assert "agree" in machine.run(block, **superuser)
        # Containers are stopped while the database is replaced; a machine gets another one.
        (restored,) = re.findall("DATABASE_URL=(.+)", machine.settings)
        assert ("/restored?" in restored) is (block == "postgresql-restore")
        with product(data, DATABASE_URL=restored, WEB_WORKERS="1") as site:
            assert_serves_as_before(site, secret, used)


def test_database_moves_to_a_new_major_version(tmp_path: Path) -> None:
    """As in containers: `down` ends the old version, and the new one has an empty volume."""
    data = tmp_path / "data"
    with tcp_postgres(oldest_programs()) as old, tcp_postgres() as new:
        assert old.major < new.major
        urls = [server.url_with_password for server in (old, new)]
        machine = Machine(tmp_path / "machine", DATA_DIR=str(data), DATABASE_URL=urls[0])
        machine.write_program("docker", MOVED_TO % (urls[1], machine.folder / "etc/production.env"))
        for name in ("git", "curl"):
            machine.write_program(name, "#!/bin/sh\n")
        with product(data, DATABASE_URL=urls[0], WEB_WORKERS="1") as site:
            secret = back_up_under_load(site, machine, "postgresql-backup")
            used = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
        site.log.unlink()
        assert "agree" in machine.run("new-major-version", RELEASE="next", BASE_URL="")
        with product(data, DATABASE_URL=urls[1], WEB_WORKERS="1") as site:
            caller = HttpCaller(site, secret)
            credits = caller.validate("no address").document["credits"]
            assert credits == {"charged": 1, "held": 0, "remaining": CREDITS - used - 1}


def test_postgresql_can_be_restored_to_a_point_in_time() -> None:
    with cluster() as (machine, variables):
        machine.run("wal-backup", **variables)
        timestamp = insert_then_delete_rows(variables)
        pg_ctl(machine, variables, "stop")
        Path(variables["PGDATA"]).rename(f"{variables['PGDATA']}.old")
        machine.run("wal-restore", MOMENT=timestamp, **variables)
        with psycopg.connect(host=variables["PGHOST"], user="postgres") as database:
            assert database.execute("SELECT * FROM paid").fetchall() == [(1,), (2,)]


def insert_then_delete_rows(variables: dict[str, str]) -> str:
    with psycopg.connect(host=variables["PGHOST"], user="postgres", autocommit=True) as database:
        database.execute("CREATE TABLE paid AS SELECT 1 AS number")
        database.execute("INSERT INTO paid VALUES (2)")
        now = database.execute("SELECT clock_timestamp()").fetchone()
        database.execute("DELETE FROM paid")
    assert now
    return str(now[0])


@contextmanager
def cluster() -> Iterator[tuple[Machine, dict[str, str]]]:
    # PostgreSQL refuses to run as root, and other users can't read pytest's temporary folders.
    user = "nobody" if os.geteuid() == 0 else None
    with TemporaryDirectory(prefix="cluster-") as socket_folder:
        folder = Path(socket_folder)
        machine = Machine(folder / "machine", user=user)
        (folder / "archive").mkdir()
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, user or os.geteuid())
        folders = {"PGDATA": "data", "BASE": "base", "ARCHIVE": "archive"}
        variables = {name: str(folder / path) for name, path in folders.items()}
        variables |= {"PGHOST": socket_folder, "PGUSER": "postgres", "PGDATABASE": "postgres"}
        machine.execute("initdb --username=postgres --auth=trust --no-instructions", variables)
        conf = f"listen_addresses = ''\nunix_socket_directories = '{socket_folder}'\n"
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.write(conf)
        pg_ctl(machine, variables, "start")
        try:
            yield machine, variables
        finally:
            pg_ctl(machine, variables, "stop")


def pg_ctl(machine: Machine, variables: dict[str, str], action: str) -> None:
    machine.execute(f"pg_ctl {action} --wait --silent --log $PGHOST/server.log", variables)
