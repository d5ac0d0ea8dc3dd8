"""Secrets come from variables, or from files that other variables name."""

import json
import os
import re
import stat
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis import Redis

from config.settings.caches import redis_url
from config.settings.databases import database_settings
from config.settings.environment import Environment
from config.settings.mail import mail_settings
from config.settings.secrets import MAX_BYTES, SECRETS, values_to_mask
from tests.servers.product import ROOT
from tests.servers.production import ENVIRONMENT
from tests.servers.programs import run_program

CONTENT = "a-secret-from-a-file"
LOOKS_SECRET = re.compile(r"KEY|PEPPER|SECRET|PASSWORD|TOKEN|DSN|_URL|_PROXY|_CLIENT_ID")


def environment(**values: str) -> Environment:
    return Environment(values)


def write(folder: Path, content: bytes) -> str:
    file = folder / "file"
    file.write_bytes(content)
    return str(file)


def problem_of(env: Environment) -> str:
    (problem,) = env.problems
    return problem


@pytest.mark.parametrize("name", SECRETS)
def test_every_secret_can_come_from_a_file(name: str, tmp_path: Path) -> None:
    # A password needs its URL.
    urls = {"DATABASE_URL": "x", "REDIS_URL": "x", "EMAIL_URL": "x", name: ""}
    env = environment(**{**urls, f"{name}_FILE": write(tmp_path, CONTENT.encode())})
    assert (env.text(name), env.is_set(name), env.problems) == (CONTENT, True, [])


def test_docs_list_every_secret_as_a_setting_and_as_a_file() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    rows = re.findall(r"^\| (`[A-Z].*?) \|", page.partition("\n## ")[0], re.M)
    names = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}
    assert len(names) > 40
    looking_secret = {name for name in names if LOOKS_SECRET.search(name)}
    public = {
        *("BASE_URL", "STRIPE_API_URL", "STRIPE_CHECKOUT_URL", "WEBHOOK_PROXY", "DOMAIN_DATA_KEY"),
        "DOMAIN_DATA_URL",
    }
    assert looking_secret - public == set(SECRETS)
    section = page.partition("## Secrets from files")[2].partition("\n## ")[0]
    files = re.findall(r"`(\w+)`", " ".join(re.findall(r"^- (`.+)$", section, re.M)))
    assert sorted(files) == sorted(SECRETS)


@pytest.mark.parametrize(
    "content",
    [f"{CONTENT}{end}".encode() for end in ("\n", "\r\n", "", "\n\n")]
    + [f"{CONTENT}\r\n".encode("utf-8-sig")],
    ids=["newline", "windows", "none", "several", "byte order mark"],
)
def test_newline_and_byte_order_mark_are_no_part_of_the_secret(
    content: bytes, tmp_path: Path
) -> None:
    env = environment(SECRET_KEY_FILE=write(tmp_path, content))
    assert env.text("SECRET_KEY") == CONTENT
    assert not env.problems


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "must name a file with one line of UTF-8 text, "),
        (b" \n", "must name a file with one line of UTF-8 text, "),
        (b"se\xffcret", "must name a file with one line of UTF-8 text, "),
        (b"SECRET_KEY=secret\nPORT=1\n", "must name a file with one line of UTF-8 text, "),
        (b"secret\0", "must name a file with one line of UTF-8 text, "),
        (b"secret \n", "must name a file with one line of UTF-8 text, without spaces around it."),
        (b"secret" * MAX_BYTES, "must name a file of at most 65536 bytes."),
    ],
    ids=["empty", "blank", "not UTF-8", "two lines", "NUL", "space", "large"],
)
def test_unusable_file_is_reported_without_its_content(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    env = environment(SECRET_KEY_FILE=write(tmp_path, content))
    assert problem_of(env).startswith(f"SECRET_KEY_FILE {problem}")
    assert "secret" not in problem_of(env)
    assert not env.is_set("SECRET_KEY")


def test_missing_file_is_reported_without_the_path_as_that_may_be_the_secret() -> None:
    env = environment(SECRET_KEY_FILE="secret-in-the-wrong-variable")
    assert problem_of(env) == (
        "SECRET_KEY_FILE must name a file that can be read by this process's user, "
        f"{os.getuid()}: No such file or directory."
    )


def test_folder_and_pipe_are_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        env = environment(SECRET_KEY_FILE=str(path))
        assert problem_of(env) == "SECRET_KEY_FILE must name a regular file."


def test_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    file = write(tmp_path, CONTENT.encode())
    assert environment(SECRET_KEY=" ", SECRET_KEY_FILE=file).text("SECRET_KEY") == CONTENT
    assert environment(SECRET_KEY="secret", SECRET_KEY_FILE=" ").text("SECRET_KEY") == "secret"


def test_file_is_read_for_secrets_only(tmp_path: Path) -> None:
    env = environment(SELLER_NAME_FILE=write(tmp_path, b"Example Ltd"))
    assert not env.is_set("SELLER_NAME")


@pytest.mark.parametrize("password", ["plain", "p@ss:w/rd%41 ?#"])
def test_password_completes_a_url_without_one(password: str, tmp_path: Path) -> None:
    file = write(tmp_path, f"{password}\n".encode())
    env = environment(
        DATABASE_URL="postgres://validation@db.example:5432/validation",
        DATABASE_PASSWORD_FILE=file,
        REDIS_URL="rediss://redis.example:6379/0",
        REDIS_PASSWORD_FILE=file,
        EMAIL_URL="smtp+tls://validation@mail.example",
        EMAIL_PASSWORD_FILE=file,
    )
    database = database_settings(env, Path("db.sqlite3"), pool_size=0)
    assert (database["USER"], database["PASSWORD"]) == ("validation", password)
    assert mail_settings(env, Path("mail"))["EMAIL_HOST_PASSWORD"] == password
    parsed = Redis.from_url(redis_url(env)).connection_pool.connection_kwargs
    assert (parsed["host"], parsed["port"], parsed["db"]) == ("redis.example", 6379, 0)
    assert parsed["password"] == password
    assert not env.problems


def test_redis_user_and_socket_take_a_password() -> None:
    env = environment(REDIS_URL="redis://someone@redis.example", REDIS_PASSWORD="word")
    assert redis_url(env) == "redis://someone:word@redis.example"
    env = environment(REDIS_URL="unix:///run/redis.sock?db=1", REDIS_PASSWORD="word")
    parts = urlsplit(redis_url(env))
    assert (parts.password, parts.path, parts.query) == ("word", "/run/redis.sock", "db=1")
    assert not env.problems


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        (
            {"SECRET_KEY": "secret", "SECRET_KEY_FILE": "{file}"},
            "SECRET_KEY and SECRET_KEY_FILE are both set: remove one of them.",
        ),
        ({"EMAIL_URL_FILE": "{file}"}, "EMAIL_URL (from EMAIL_URL_FILE) must be of the form"),
        (
            {"DATABASE_URL": "postgres://u:one@h/db", "DATABASE_PASSWORD": "two"},
            "DATABASE_PASSWORD is set, and DATABASE_URL contains",
        ),
        (
            {"REDIS_PASSWORD": "secret"},
            "REDIS_PASSWORD is the password for REDIS_URL, which must be set too.",
        ),
        (
            {"EMAIL_URL": "smtp+tls://mail.example", "EMAIL_PASSWORD": "secret"},
            "EMAIL_URL must contain the password's user",
        ),
    ],
)
def test_contradictory_variables_are_reported(
    variables: dict[str, str], problem: str, tmp_path: Path
) -> None:
    file = write(tmp_path, b"http://mail.example")
    env = environment(**{name: text.format(file=file) for name, text in variables.items()})
    database_settings(env, Path("db.sqlite3"), pool_size=0)
    mail_settings(env, Path("mail"))
    assert problem_of(env).startswith(problem)


def test_masked_values_are_the_secrets_and_the_passwords_of_urls() -> None:
    values = {
        "SECRET_KEY": "secret-key",
        "DATABASE_URL": "postgres://u:p%40ssw0rd@h/db",
        "REDIS_URL": "redis://redis.example",
        "EMAIL_PASSWORD": "short",
        "SELLER_NAME": "Example Validation Ltd",
    }
    assert values_to_mask(values) == {"secret-key", "p%40ssw0rd", "p@ssw0rd"}


@pytest.mark.process
class TestProduction:
    """A production instance whose secrets are all files."""

    @pytest.fixture
    def from_files(self, tmp_path: Path) -> dict[str, str]:
        """Return production's environment with each secret in a file."""
        variables = {"DATA_DIR": str(tmp_path / "data")}
        for name, value in ENVIRONMENT.items():
            if name in SECRETS:
                (tmp_path / name).write_text(f"{value}\n")
                variables[f"{name}_FILE"] = str(tmp_path / name)
            else:
                variables[name] = value
        return variables

    @pytest.mark.skipif(os.getuid() != 0, reason="Only root can become another user.")
    def test_file_that_the_user_cannot_read_is_reported(self, tmp_path: Path) -> None:
        """As in a container whose secrets belong to root."""
        file = tmp_path / "secret"
        file.write_text(CONTENT)
        file.chmod(stat.S_IRUSR)
        script = """
import json, os, sys
from config.settings.environment import Environment
os.setuid(65534)
print(json.dumps(Environment({"SECRET_KEY_FILE": sys.argv[1]}).problems))
"""
        ended = run_program("-c", script, str(file))
        (problem,) = json.loads(ended.stdout)
        assert problem.endswith("this process's user, 65534: Permission denied.")

    def test_secret_of_a_file_is_masked_in_logs_and_debug_pages(
        self, from_files: dict[str, str]
    ) -> None:
        script = """
import logging, os
import django
django.setup()
from django.conf import settings
from django.test import RequestFactory
from django.views.debug import ExceptionReporter
logging.getLogger("test").error("Key %s, mail %s", settings.SECRET_KEY, "validation:invented@h")
settings.DEBUG = True
request = RequestFactory().get("/")
print(ExceptionReporter(request, None, None, None).get_traceback_html())
"""
        for url in ("REDIS_URL", "DATABASE_URL"):
            file = Path(from_files["SECRET_KEY_FILE"]).with_name(url)
            scheme = url.partition("_")[0].lower().replace("database", "postgres")
            file.write_text(f"{scheme}://validation:invented-{scheme}@127.0.0.1:1/0\n")
            from_files[f"{url}_FILE"] = str(file)
        from_files["DJANGO_SETTINGS_MODULE"] = "config.settings"
        ended = run_program("-c", script, **from_files)
        assert ended.returncode == 0, ended.stderr
        assert '"Key …, mail ' in ended.stderr
        assert "REDIS_URL" in ended.stdout
        assert "SELLER_TAX_ID" in ended.stdout
        for output in (ended.stdout, ended.stderr):
            assert "invented-" not in output
            assert "validation:invented" not in output
