"""PostgreSQL and Redis accept the passwords that come from files."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from redis import Redis

from tests.servers.postgres import postgres_server
from tests.servers.programs import run_program
from tests.servers.redis import redis

pytestmark = pytest.mark.process

# Each of these characters has a meaning in a URL.
PASSWORD = "p@ss:w/rd%41 ?#"
SCRIPT = """
from django.core.cache import caches
from django.db import connection
connection.ensure_connection()
caches["default"].set("name", "stored")
print(caches["default"].get("name"))
print(caches["counters"].incr("count", 7))
print(connection.settings_dict["USER"])
"""


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    """Yield the URLs of servers that require the password."""
    with postgres_server() as server, redis() as redis_url:
        data = Path(server.log).parent
        role = sql.SQL("CREATE ROLE validation LOGIN PASSWORD {}").format(sql.Literal(PASSWORD))
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(role)
            rules = data / "pg_hba.conf"
            rules.write_text(f"local all validation scram-sha-256\n{rules.read_text()}")
            connection.execute("SELECT pg_reload_conf()")
        Redis.from_url(redis_url).config_set("requirepass", PASSWORD)
        assert "://postgres:@/" in server.url
        yield {
            "DATABASE_URL": server.url.replace("://postgres:@/", "://validation@/"),
            "REDIS_URL": redis_url,
        }


def run(servers: dict[str, str], folder: Path, **files: str) -> subprocess.CompletedProcess[str]:
    environment = {"DATA_DIR": str(folder / "data"), **servers}
    for name, content in files.items():
        (folder / name).write_text(content)
        environment[name] = str(folder / name)
    return run_program("manage.py", "shell", "--no-imports", "-c", SCRIPT, **environment)


@pytest.mark.proof
def test_servers_accept_the_passwords(servers: dict[str, str], tmp_path: Path) -> None:
    password = f"{PASSWORD}\n"
    ended = run(servers, tmp_path, DATABASE_PASSWORD_FILE=password, REDIS_PASSWORD_FILE=password)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.split() == ["stored", "7", "validation"]


@pytest.mark.proof
def test_servers_refuse_another_password(servers: dict[str, str], tmp_path: Path) -> None:
    ended = run(servers, tmp_path, DATABASE_PASSWORD_FILE="another", REDIS_PASSWORD_FILE="another")
    assert ended.returncode == 1
    assert "password authentication failed" in ended.stderr
