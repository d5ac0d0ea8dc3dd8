"""`make serve`: prepares the data, then keeps the web server and the background worker running."""

import ctypes
import logging
import os
import resource
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import transaction

from runtime.logging.formatters import log_uncaught
from runtime.metrics.exporter import MetricsExporter, empty

logger = logging.getLogger("config.server.supervisor")

OWNER = "owner@example.com"
WORKER = [sys.executable, "manage.py", "run_worker"]
# What gunicorn loads anew on a reload.
CODE = [
    sys.executable,
    "-c",
    "import config.wsgi, config.server.gunicorn_settings, config.server.worker",
]
RESTART_SECONDS = 1
STOP_SECONDS = 15
# More than the connections of a web worker: config/server/gunicorn_settings.py.
FILES = 65_536


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # Database, mails and secrets are for the user who runs this alone.
    os.umask(0o077)
    _allow_many_connections()
    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    log_uncaught()
    scrapes = prepare()
    if scrapes is not None:
        scrapes.begin()
    return Supervisor(_web_command()).run()


def _allow_many_connections() -> None:
    """Each is a file. What a process gets by default would be used up by a thousand clients."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def prepare() -> MetricsExporter | None:
    _refuse_taken_port(settings.PORT)
    scrapes = _listen_for_scrapes()
    _tell_children()
    _close_to_others(settings.DATA_DIR)
    _migrate()
    collect_static(settings.STATIC_ROOT, settings.BASE_DIR)
    _greet(settings.BASE_URL, local=not settings.PRODUCTION)
    return scrapes


def _close_to_others(folder: Path) -> None:
    try:
        folder.chmod(0o700)
    except OSError as error:
        sys.exit(
            f"The permissions of {folder} can't be changed: {error.strerror}. Make the user who "
            "starts the product its owner, or set DATA_DIR to another folder."
        )


def _migrate() -> None:
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except CommandError as error:
        sys.exit(str(error))


def _listen_for_scrapes() -> MetricsExporter | None:
    if settings.METRICS_ADDRESS is None:
        return None
    empty(settings.METRICS_DIR)
    try:
        return MetricsExporter(settings.METRICS_ADDRESS, settings.METRICS_DIR)
    except OSError as error:
        host, port = settings.METRICS_ADDRESS
        sys.exit(
            f"Metrics cannot be served on {host}, port {port}: {error.strerror}. Stop what uses "
            "it, or choose another: METRICS_PORT"
        )


def _tell_children() -> None:
    """gunicorn itself reads no settings: how it logs, and where its workers count."""
    os.environ["LOG_LEVEL"], os.environ["LOG_FORMAT"] = settings.LOG_LEVEL, settings.LOG_FORMAT
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
    if settings.METRICS_ADDRESS is not None:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)


def _web_command() -> list[str]:
    command = [sys.executable, "-m", "gunicorn", "--config", "config/server/gunicorn_settings.py"]
    command += ["--workers", str(settings.WEB_WORKERS)]
    # gunicorn prefers its arguments to this variable, which is how an operator says otherwise.
    if "--bind" not in os.environ.get("GUNICORN_CMD_ARGS", ""):
        command += ["--bind", f"127.0.0.1:{settings.PORT}"]
    return [*command, "config.wsgi"]


def _refuse_taken_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            sys.exit(f"Port {port} is for root alone. Choose another: PORT=8000 make serve")
        except OSError:
            another = 8000 if port == 65535 else port + 1
            sys.exit(
                f"Port {port} is in use. Stop what uses it, or choose another: "
                f"PORT={another} make serve"
            )


def collect_static(target: Path, source: Path) -> None:
    """Only when something changed: the stamp is as new as the newest file it was made from."""
    files = [*(source / "static").rglob("*"), source / "requirements.lock"]
    newest = str(max(path.stat().st_mtime_ns for path in files))
    stamp = target / ".stamp"
    if stamp.exists() and stamp.read_text() == newest:
        return
    # Only a folder that this function filled is ever emptied.
    call_command("collectstatic", verbosity=0, interactive=False, clear=stamp.exists())
    stamp.write_text(newest)


def _greet(base_url: str, *, local: bool) -> None:
    from accounts.models import User

    if User.objects.exists():
        print(f"\n  Sign in at {base_url}/accounts/login/", flush=True)
    elif local:
        password, key = _create_owner()
        print(
            f"\n  Your owner account, shown this once:\n"
            f"    e-mail    {OWNER}\n"
            f"    password  {password}\n"
            f"    API key   {key}\n"
            f"\n  Paste this for a first answer:\n"
            f"    curl {base_url}/v1/validate -H 'Authorization: Bearer {key}' "
            "-H 'Content-Type: application/json' -d '{\"email\": \"deliverable@sandbox.test\"}'\n"
            f"\n  Sign in at {base_url}/accounts/login/, staff pages at {base_url}/admin/",
            flush=True,
        )
    else:
        print("\n  No user yet: manage.py create_account EMAIL --staff makes the first.")


@transaction.atomic
def _create_owner() -> tuple[str, str]:
    from accounts.services import create_confirmed_user, note_confirmed, open_account
    from apikeys.services import create_key

    password = secrets.token_urlsafe(12)
    owner = create_confirmed_user(email=OWNER, password=password, staff=True)
    account = open_account(user=owner)
    note_confirmed(user=owner, by_operator=True)
    _, key = create_key(account=account, name="First key", actor=owner)
    return password, key


class Supervisor:
    """Ends when the web server ends; a background worker that dies is started again."""

    def __init__(self, web_command: list[str]) -> None:
        self.stopping = self.reloading = False
        self.web = self._start(web_command)
        self.worker = self._start(WORKER)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGHUP, self._reload)

    def run(self) -> int:
        while (status := self.web.poll()) is None:
            if self.worker.poll() is not None and not self.stopping:
                logger.warning("The background worker ended; starting it again.")
                time.sleep(RESTART_SECONDS)
                self.worker = self._start(WORKER)
            if self.reloading:
                self._change_over()
            time.sleep(0.2)
        self._end_worker()
        return 0 if self.stopping else status

    def _end_worker(self) -> None:
        self.worker.terminate()
        try:
            self.worker.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            # It waits for a mail server: the mail's lease runs out and it is sent again.
            self.worker.kill()

    @staticmethod
    def _start(command: list[str]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(command, preexec_fn=_die_with_parent)  # noqa: PLW1509

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
        self.web.terminate()
        self.worker.terminate()

    def _reload(self, number: int, frame: FrameType | None) -> None:
        """New code, without a failed request. `manage.py migrate` and `collectstatic` go first."""
        self.reloading = True

    def _change_over(self) -> None:
        """gunicorn ends when a new worker cannot start. So that is tried before."""
        self.reloading = False
        if not starts():
            print("The new code does not start: the old one goes on.", file=sys.stderr, flush=True)
        elif not self.stopping:
            self.web.send_signal(signal.SIGHUP)
            self.worker.terminate()


def starts() -> bool:
    return subprocess.run(CODE, check=False).returncode == 0


def _die_with_parent() -> None:
    """Where the kernel can: nothing is left behind when the supervisor itself is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
