"""The product, started like `make serve`: several processes on a loopback port."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

from tests.servers.postgres import postgres_server
from tests.servers.redis import free_port

ROOT = Path(__file__).resolve().parents[2]
PREPARED = ROOT / ".pytest_cache" / "prepared-product"
PACKAGES = (
    *("accounts", "apikeys", "config", "credits", "engine", "lists", "reference", "runtime"),
    "validation",
)


class Closable(Protocol):
    def close(self) -> None: ...


# The preparations of `make serve` before it accepts requests.
PREPARE = """
import django
django.setup()
from django.conf import settings
from django.core.management import call_command
from config.server.prepare import collect_static
call_command("migrate", verbosity=0)
collect_static(settings.STATIC_ROOT, settings.BASE_DIR)
"""


@cache
def _prepared() -> Path:
    """Return a folder with tables and static files, which take seconds to create.

    It is kept for later runs until a migration, a static file or the lock file changes.
    """
    folder = PREPARED / _hash_inputs()
    PREPARED.mkdir(parents=True, exist_ok=True)
    with (PREPARED / "lock").open("w") as lock:
        # Other workers of the same run wait for this one.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "collected-static").exists():
            _create_prepared(folder)
    return folder


def _hash_inputs() -> str:
    migrations = ROOT.glob("*/migrations/*.py")
    static = (path for path in (ROOT / "static").rglob("*") if path.is_file())
    digest = sha256()
    for path in sorted([*migrations, *static, ROOT / "requirements.lock"]):
        digest.update(f"{path} {path.stat().st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def _create_prepared(folder: Path) -> None:
    """Run the preparations in a new folder, and replace those of earlier versions by it."""
    for old in PREPARED.glob("*/"):
        shutil.rmtree(old)
    with tempfile.TemporaryDirectory(dir=PREPARED) as unfinished:
        environment = {"DATA_DIR": unfinished, "DJANGO_SETTINGS_MODULE": "config.settings"}
        environment["PATH"] = os.environ["PATH"]
        subprocess.run([sys.executable, "-c", PREPARE], cwd=ROOT, env=environment, check=True)
        shutil.copytree(unfinished, folder)


def prepare_folder(folder: Path, *, on_sqlite: bool) -> None:
    """Give a data folder tables and static files, as an earlier start would have left them."""
    if not (folder / "collected-static").exists():
        shutil.copytree(_prepared() / "collected-static", folder / "collected-static")
    if on_sqlite and not (folder / "db.sqlite3").exists():
        shutil.copy(_prepared() / "db.sqlite3", folder)


@contextmanager
def migrated_postgres() -> Iterator[str]:
    """Start a PostgreSQL server that an earlier start has left with tables; yield its URL."""
    data = _prepared() / "postgres"
    with (PREPARED / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not data.exists():
            _create_postgres(data)
    with postgres_server(data) as server:
        yield server.url


def _create_postgres(data: Path) -> None:
    with tempfile.TemporaryDirectory(dir=PREPARED) as folder, postgres_server() as server:
        _create_tables({"DATA_DIR": folder, "DATABASE_URL": server.url})
        server.stop_and_copy(Path(folder, "postgres"))
        Path(folder, "postgres").rename(data)


def _create_tables(environment: dict[str, str]) -> None:
    """Run `migrate --new-database`, which production requires on first start."""
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--new-database", "--verbosity=0"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        check=True,
    )


class Product:
    # A subclass sets this to False to start without prepared tables and files.
    is_prepared = True

    def __init__(self, folder: Path, *, errors: int | None = None, **environment: str) -> None:
        """Start the product. `errors` is a file descriptor for stderr, if not the log file."""
        self.folder = folder
        self.callers: WeakSet[Closable] = WeakSet()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "serve.log"
        folder.mkdir(parents=True, exist_ok=True)
        if self.is_prepared:
            prepare_folder(folder, on_sqlite="DATABASE_URL" not in environment)
        if environment.get("ENVIRONMENT") == "production":
            _create_tables({"DATA_DIR": str(folder), **environment})
        self.environment = {
            "DATA_DIR": str(folder),
            "PORT": str(self.port),
            "WEB_WORKERS": "2",
            "LIST_PROCESSES": "0",
            "WEBHOOK_PROCESSES": "0",
            # Tests of a module share a product and send more than 60 requests without a key.
            "ANONYMOUS_REQUESTS_PER_MINUTE": "1000000",
            # Nothing listens on this port: a lookup that no test scripts fails immediately.
            "DNS_RESOLVERS": "127.0.0.1:9",
            **environment,
        }
        with self.log.open("ab") as log:
            self.process = self.launch(log.fileno(), log.fileno() if errors is None else errors)

    @property
    def process_environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), **self.environment}

    def launch(self, output: int, errors: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "config.server.supervisor"],
            cwd=ROOT,
            env=self.process_environment,
            stdout=output,
            stderr=errors,
        )

    def wait_until_ready(self, seconds: float = 100) -> None:
        deadline = time.monotonic() + seconds
        while "Ready." not in self.output():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The product did not start:\n{self.output()}")
            time.sleep(0.02)

    def output(self) -> str:
        return self.log.read_text()

    def wait_for_log_lines(self, text: str, number: int = 1) -> list[str]:
        """Wait until the text is in that many log lines: the access log is flushed every second."""
        deadline = time.monotonic() + 60
        while True:
            lines = [line for line in self.output().splitlines() if text in line]
            if len(lines) >= number or time.monotonic() > deadline:
                return lines
            time.sleep(0.1)

    def owner_password(self) -> str:
        match = re.search(r"password +(\S+)", self.output())
        assert match, self.output()
        return match[1]

    def owner_key(self) -> str:
        match = re.search(r"API key +(svc_live_\w+)", self.output())
        assert match, self.output()
        return match[1]

    def wait_for_email(self, to: str, subject: str = "", seconds: float = 60) -> EmailMessage:
        """Wait until the background worker has written the email, and return the newest match."""
        deadline = time.monotonic() + seconds
        others: set[Path] = set()
        while time.monotonic() < deadline:
            files = set(self.folder.glob("mail/*")) - others
            for path in sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True):
                message = message_from_bytes(path.read_bytes(), policy=policy.default)
                if message["To"] == to and subject in str(message["Subject"]):
                    return message
                # Without a recipient, it is being written.
                others |= {path} if message["To"] else set()
            time.sleep(0.1)
        raise TimeoutError(f"No email to {to} arrived within {seconds} s.")

    def stop(self) -> None:
        # Otherwise shutdown waits until each keep-alive connection has been idle for 10 s.
        for caller in list(self.callers):
            caller.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=40)


@contextmanager
def product(folder: Path, **environment: str) -> Iterator[Product]:
    running = Product(folder, errors=None, **environment)
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.stop()


def plain_text(message: EmailMessage) -> str:
    part = message.get_body(("plain",))
    assert part is not None
    return str(part.get_content())
