import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.server.supervisor import WEB_SERVER
from config.settings.databases import database_settings, pgbouncer_settings, replica_settings
from config.settings.environment import Environment
from config.settings.mail import mail_settings
from tests.servers.product import ROOT
from tests.servers.programs import run_program


def environment(**values: str) -> Environment:
    return Environment(values)


def test_unset_variable_has_its_default() -> None:
    env = environment(EMPTY="  ")
    assert env.integer("PORT", 8000, minimum=1, maximum=65535) == 8000
    assert env.text("EMPTY", "default") == "default"
    assert env.flag("SCHEDULER", True) is True
    assert not env.problems


@pytest.mark.parametrize(
    ("read", "values"),
    [
        (
            lambda env: env.integer("NAME", 8000, minimum=1, maximum=65535),
            ["abc", "0", "65536", "8000.5", "1e3", "8000x", "8_000"],
        ),
        (
            lambda env: env.number("NAME", 3, minimum=0.1, maximum=30),
            ["nan", "inf", "-1", "31", "three", "1e0", "1_0"],
        ),
        (
            lambda env: env.web_address("NAME", "http://127.0.0.1:8000"),
            [
                *("example.com", "ftp://example.com", "https://", "https://example.com/path"),
                *("https://a b", "https://a.example:99999", "http://x:0abc"),
            ],
        ),
        (
            lambda env: env.resolvers("NAME"),
            ["not a resolver", "127.0.0.1:0", "127.0.0.1:x", "a.example"],
        ),
        (
            lambda env: env.listener("NAME"),
            ["on", "65536", "host:9100", "9100x", "127.0.0.1", ":", "-1"],
        ),
        (
            lambda env: env.sender("NAME", "a@b.example"),
            ["nonsense", '"><b>', "a@b@c d", "Name <nobody>"],
        ),
    ],
    ids=["integer", "number", "web address", "resolvers", "listener", "sender"],
)
def test_invalid_value_is_reported(
    read: Callable[[Environment], object], values: list[str]
) -> None:
    for value in values:
        env = environment(NAME=value)
        read(env)
        assert env.problems, value


@pytest.mark.parametrize(
    ("name", "urls"),
    [
        (
            "DATABASE_URL",
            [
                *("mysql://h/db", "postgres://u@h:abc/db", "postgres://u:p@[h/db"),
                *("postgres://h/", "sqlite://", "nonsense"),
            ],
        ),
        (
            "EMAIL_URL",
            ["mail.example", "http://mail.example", "smtp://", "smtp://a:x", "smtp://[::1:25"],
        ),
    ],
)
def test_invalid_url_is_reported_without_its_password(name: str, urls: list[str]) -> None:
    for url in urls:
        env = environment(**{name: url})
        database_settings(env, Path("db.sqlite3"), pool_size=0)
        mail_settings(env, Path("mail"))
        assert env.problems[0].startswith(f"{name} must be of the form"), url
        assert "u:p@" not in env.problems[0]


PRIMARY = "postgres://u:p@db1,db2/validation"
SQLITE_URL = "sqlite:////data/db.sqlite3"


def test_with_several_hosts_the_one_that_accepts_writes_is_used() -> None:
    def options(url: str) -> Any:
        settings = database_settings(environment(DATABASE_URL=url), Path("db"), pool_size=0)
        return settings["OPTIONS"]

    assert options(PRIMARY)["target_session_attrs"] == "read-write"
    assert options("postgres:///v?host=db1,db2")["target_session_attrs"] == "read-write"
    assert options(f"{PRIMARY}?target_session_attrs=any")["target_session_attrs"] == "any"
    assert "target_session_attrs" not in options("postgres://u:p@db1/validation")


@pytest.mark.parametrize(
    ("name", "read"), [("PGBOUNCER_URL", pgbouncer_settings), ("REPLICA_URL", replica_settings)]
)
@pytest.mark.parametrize(
    ("url", "database", "problem"),
    [
        ("db1:6432", PRIMARY, "must be of the form"),
        (SQLITE_URL, PRIMARY, "must be of the form"),
        ("postgres://u:p@[h/v", PRIMARY, "must be of the form"),
        ("postgres://u:p@127.0.0.1:6432/v", SQLITE_URL, "needs DATABASE_URL"),
        ("postgres://u:p@127.0.0.1:6432/v", "", "needs DATABASE_URL"),
    ],
)
def test_invalid_url_of_another_server_is_reported_without_its_password(
    name: str, read: Any, url: str, database: str, problem: str
) -> None:
    env = environment(**{name: url}, DATABASE_URL=database)
    settings = database_settings(env, Path("db.sqlite3"), pool_size=0)
    assert read(env, settings, pool_size=0) is None
    assert env.problems[0].startswith(f"{name} {problem}")
    assert "u:p@" not in env.problems[0]


def test_password_of_pgbouncer_defaults_to_that_of_the_database() -> None:
    env = environment(PGBOUNCER_URL="postgres://u@127.0.0.1:6432/v", DATABASE_URL=PRIMARY)
    database = database_settings(env, Path("db.sqlite3"), pool_size=0)
    pgbouncer = pgbouncer_settings(env, database, pool_size=0)
    assert pgbouncer
    assert pgbouncer["PASSWORD"] == "p"


@pytest.mark.parametrize("pool_size", [0, 16])
def test_replica_is_read_only_and_the_standby_of_several_hosts(pool_size: int) -> None:
    env = environment(REPLICA_URL="postgres://u@db1,db2/validation", DATABASE_URL=PRIMARY)
    database = database_settings(env, Path("db.sqlite3"), pool_size=pool_size)
    replica = replica_settings(env, database, pool_size=pool_size)
    assert replica
    assert replica["PASSWORD"] == "p"
    assert replica["OPTIONS"]["target_session_attrs"] == "standby"
    assert replica["OPTIONS"]["options"].endswith(" -c default_transaction_read_only=on")
    # The start doesn't wait for it.
    assert "pool" not in replica["OPTIONS"] or replica["OPTIONS"]["pool"]["min_size"] == 0


@pytest.mark.parametrize(("serves_web", "port"), [("on", 6432), ("off", 5432)])
def test_only_web_workers_connect_through_pgbouncer(serves_web: str, port: int) -> None:
    script = "import config.settings as s; d = s.DATABASES['default']; print(d['PORT'], d)"
    process = run_program(
        "-c",
        script,
        SERVES_WEB=serves_web,
        DATABASE_URL="postgres://u:p@db1:5432/validation",
        PGBOUNCER_URL="postgres://u:p@127.0.0.1:6432/validation",
    )
    assert process.stdout.startswith(f"{port} ")
    assert ("'prepare_threshold': None" in process.stdout) == (serves_web == "on")


def test_database_path_may_contain_special_characters() -> None:
    file = Path("/tmp/od d#x%20y?/db.sqlite3")  # noqa: S108
    assert database_settings(environment(), file, pool_size=0)["NAME"] == str(file)


@pytest.mark.parametrize(
    "value", ["127.0.0.1", "127.0.0.1:5353", "2001:db8::1", "[2001:db8::1]:53,127.0.0.1"]
)
def test_resolvers_are_read_with_and_without_port(value: str) -> None:
    env = environment(DNS_RESOLVERS=value)
    assert env.resolvers("DNS_RESOLVERS") == value.split(",")
    assert not env.problems


@pytest.mark.parametrize(
    ("value", "address"),
    [
        *(("", None), ("off", None), ("0", None)),
        ("9100", ("127.0.0.1", 9100)),
        ("0.0.0.0:9100", ("0.0.0.0", 9100)),  # noqa: S104
        ("[::1]:9100", ("::1", 9100)),
    ],
)
def test_listener_is_a_port_or_an_address_with_a_port(
    value: str, address: tuple[str, int] | None
) -> None:
    env = environment(METRICS_PORT=value)
    assert env.listener("METRICS_PORT") == address
    assert not env.problems


def test_sender_has_a_name_only_where_allowed() -> None:
    env = environment(FROM="Us <us@a.example>")
    assert env.sender("FROM", "") == "Us <us@a.example>"
    env.sender("FROM", "", name_allowed=False)
    assert env.problems


@pytest.mark.parametrize("folder", [".", "..", "/", "/etc/passwd"])
def test_data_folder_must_not_contain_the_program(folder: str) -> None:
    env = environment(DATA_DIR=folder)
    env.folder("DATA_DIR", Path("var"), outside=ROOT)
    assert env.problems[0].startswith("DATA_DIR must")


def test_unwritable_data_folder_is_reported_with_a_solution() -> None:
    # Not even root can write there.
    env = environment(DATA_DIR="/proc/sys")
    env.folder("DATA_DIR", Path("var"), outside=ROOT)
    (problem,) = env.problems
    assert problem.startswith("DATA_DIR must be a writable folder, which /proc/sys")
    assert problem.endswith("or set DATA_DIR to another folder.")


def test_no_secret_is_generated_after_a_problem(tmp_path: Path) -> None:
    env = environment(DATA_DIR="/proc/sys")
    env.folder("DATA_DIR", tmp_path, outside=ROOT)
    assert env.secret("SECRET_KEY", tmp_path) == ""
    assert not list(tmp_path.iterdir())


def test_secret_that_cannot_be_stored_is_reported_with_its_file() -> None:
    env = environment()
    assert env.secret("SECRET_KEY", Path("/proc/sys/secrets")) == ""
    (problem,) = env.problems
    place = "/proc/sys/secrets/SECRET_KEY"
    assert problem.startswith(f"SECRET_KEY or SECRET_KEY_FILE must be set, or stored in {place}: ")


def run_web_server(*command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    env = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.process
@pytest.mark.parametrize(
    ("run", "command"),
    [
        (run_program, ["manage.py", "check_books"]),
        (run_program, ["-m", "config.server.supervisor"]),
        (run_web_server, WEB_SERVER),
    ],
    ids=["manage", "serve", "web"],
)
def test_every_command_reports_an_unwritable_data_folder(run: Any, command: list[str]) -> None:
    ended = run(*command, DATA_DIR="/proc/sys")
    assert ended.returncode != 0
    assert "- DATA_DIR must be a writable folder, which /proc/sys" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_all_problems_are_reported_together() -> None:
    env = environment(PORT="x", SCHEDULER="maybe", LOG_LEVEL="loud")
    env.integer("PORT", 8000, minimum=1, maximum=65535)
    env.flag("SCHEDULER", True)
    env.choice("LOG_LEVEL", "info", ("debug", "info"))
    with pytest.raises(ImproperlyConfigured) as error:
        env.raise_problems()
    assert all(name in str(error.value) for name in ("PORT", "SCHEDULER", "LOG_LEVEL"))
    assert "PORT must be a whole number from 1 to 65535" in str(error.value)


def test_only_the_first_problem_of_a_variable_is_reported() -> None:
    env = environment()
    env.report("BASE_URL", "must be a scheme and a host.")
    env.report("BASE_URL", "must start with https://.")
    assert env.problems == ["BASE_URL must be a scheme and a host."]


def test_local_secret_is_generated_once_and_readable_only_by_its_owner(tmp_path: Path) -> None:
    first = environment().secret("SECRET_KEY", tmp_path / "secrets")
    assert first == environment().secret("SECRET_KEY", tmp_path / "secrets")
    assert len(first) >= 50
    assert (tmp_path / "secrets/SECRET_KEY").stat().st_mode & 0o077 == 0
    assert environment(SECRET_KEY="given").secret("SECRET_KEY", tmp_path) == "given"


@pytest.mark.parametrize(
    ("url", "port", "tls", "ssl"),
    [
        ("smtp://mail.example", 25, False, False),
        ("smtp://mail.example:2525", 2525, False, False),
        ("smtp+tls://user:p%40ss@mail.example:587", 587, True, False),
        ("submission://mail.example", 587, True, False),
        ("smtps://mail.example", 465, False, True),
        ("smtp://mail.example:587?tls=true", 587, True, False),
        ("smtp://mail.example:465?ssl=true", 465, False, True),
    ],
)
def test_mail_server_is_read_from_its_url(url: str, port: int, tls: bool, ssl: bool) -> None:
    env = environment(EMAIL_URL=url)
    mail = mail_settings(env, Path("mail"))
    assert not env.problems
    assert (mail["EMAIL_HOST"], mail["EMAIL_PORT"]) == ("mail.example", port)
    assert (mail["EMAIL_USE_TLS"], mail["EMAIL_USE_SSL"]) == (tls, ssl)
    if "p%40ss" in url:
        assert (mail["EMAIL_HOST_USER"], mail["EMAIL_HOST_PASSWORD"]) == ("user", "p@ss")
