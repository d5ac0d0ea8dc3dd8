"""The product itself, started as `make serve` does: several processes on a loopback port."""

import atexit
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
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

from tests.servers.redis import free_port

ROOT = Path(__file__).resolve().parents[2]


class Closes(Protocol):
    def close(self) -> None: ...


# What `make serve` does before it lets anybody in.
PREPARE = """
import django
django.setup()
from django.conf import settings
from django.core.management import call_command
from config.server.supervisor import collect_static
call_command("migrate", verbosity=0)
collect_static(settings.STATIC_ROOT, settings.BASE_DIR)
"""


@cache
def _prepared() -> Path:
    """A first start takes seconds to make tables and collect files: once for all tests."""
    folder = Path(tempfile.mkdtemp(prefix="prepared-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environment = {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings"}
    environment["PATH"] = os.environ["PATH"]
    subprocess.run([sys.executable, "-c", PREPARE], cwd=ROOT, env=environment, check=True)
    return folder


def _prepare(folder: Path, *, on_sqlite: bool) -> None:
    if not (folder / "collected-static").exists():
        shutil.copytree(_prepared() / "collected-static", folder / "collected-static")
    if on_sqlite and not (folder / "db.sqlite3").exists():
        shutil.copy(_prepared() / "db.sqlite3", folder)


def _create_tables(environment: dict[str, str]) -> None:
    """As an operator does for a new service."""
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--new-database", "--verbosity=0"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        check=True,
    )


class Product:
    # Not on a machine that never ran it.
    is_prepared = True

    def __init__(self, folder: Path, *, errors: int | None = None, **environment: str) -> None:
        """`errors`: where the log goes, if not into the file of what is printed."""
        self.folder = folder
        self.callers: WeakSet[Closes] = WeakSet()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "serve.log"
        folder.mkdir(parents=True, exist_ok=True)
        if self.is_prepared:
            _prepare(folder, on_sqlite="DATABASE_URL" not in environment)
        if environment.get("ENVIRONMENT") == "production":
            _create_tables({"DATA_DIR": str(folder), **environment})
        given = {
            "DATA_DIR": str(folder),
            "PORT": str(self.port),
            "WEB_WORKERS": "2",
            # Nobody listens there: what no test scripts is unknown, at once.
            "DNS_RESOLVERS": "127.0.0.1:9",
            **environment,
        }
        self.environment = given
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.server.supervisor"],
                cwd=ROOT,
                env={"PATH": os.environ["PATH"], "HOME": str(folder), **given},
                stdout=log,
                stderr=log if errors is None else errors,
            )

    def wait_until_ready(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while "Ready." not in self.output():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The product did not start:\n{self.output()}")
            time.sleep(0.02)

    def output(self) -> str:
        return self.log.read_text()

    def lines_with(self, text: str, number: int = 1) -> list[str]:
        """So many of the log at least, in which requests are told of once a second."""
        for _ in range(100):
            lines = [line for line in self.output().splitlines() if text in line]
            if len(lines) >= number:
                break
            time.sleep(0.1)
        return lines

    def owner_password(self) -> str:
        found = re.search(r"password +(\S+)", self.output())
        assert found, self.output()
        return found[1]

    def owner_key(self) -> str:
        found = re.search(r"API key +(svc_live_\w+)", self.output())
        assert found, self.output()
        return found[1]

    def newest_mail(self, to: str, subject: str = "", seconds: float = 10) -> EmailMessage:
        """Waits for the background worker to write it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            files = sorted(self.folder.glob("mail/*"), key=lambda path: path.stat().st_mtime_ns)
            for path in reversed(files):
                mail = message_from_bytes(path.read_bytes(), policy=policy.default)
                if mail["To"] == to and subject in str(mail["Subject"]):
                    return mail
            time.sleep(0.1)
        raise TimeoutError(f"No mail to {to} came within {seconds} s.")

    def stop(self) -> None:
        # It would wait for each connection that is kept open, until that has been idle for 10 s.
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


def text_of(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part is not None
    return str(part.get_content())
