"""`make serve`: prepare the database and files, then run the web server and background worker."""

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
from runtime.metrics.exporter import MetricsExporter, delete_metric_files

logger = logging.getLogger("config.server.supervisor")

OWNER = "owner@example.com"
BACKGROUND_WORKER = [sys.executable, "manage.py", "run_worker"]
# Imports what gunicorn imports on a reload.
IMPORT_CHECK = [
    sys.executable,
    "-c",
    "import config.wsgi, config.server.gunicorn_settings, config.server.worker",
]
RESTART_SECONDS = 1
STOP_SECONDS = 15
# More than the connections of a web worker in config/server/gunicorn_settings.py.
MAX_OPEN_FILES = 65_536


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # Only the user who runs this may read the database, emails and secrets.
    os.umask(0o077)
    _allow_many_connections()
    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    log_uncaught()
    exporter = prepare()
    if exporter is not None:
        exporter.start()
    return Supervisor(_web_command()).run()


def _allow_many_connections() -> None:
    """Raise the limit of open files: a thousand clients would exceed the usual default."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def prepare() -> MetricsExporter | None:
    """Get everything ready to serve, or exit with a message."""
    _refuse_taken_port(settings.PORT)
    exporter = _open_exporter()
    _configure_children()
    _make_private(settings.DATA_DIR)
    _migrate()
    collect_static(settings.STATIC_ROOT, settings.BASE_DIR)
    _print_welcome(settings.BASE_URL, local=not settings.PRODUCTION)
    return exporter


def _make_private(folder: Path) -> None:
    try:
        folder.chmod(0o700)
    except OSError as error:
        sys.exit(
            f"Can't change the permissions of {folder}: {error.strerror}. Make the user that runs "
            "this command its owner, or set DATA_DIR to another folder."
        )


def _migrate() -> None:
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except CommandError as error:
        sys.exit(str(error))


def _open_exporter() -> MetricsExporter | None:
    if settings.METRICS_ADDRESS is None:
        return None
    delete_metric_files(settings.METRICS_DIR)
    try:
        return MetricsExporter(settings.METRICS_ADDRESS, settings.METRICS_DIR)
    except OSError as error:
        host, port = settings.METRICS_ADDRESS
        sys.exit(
            f"Can't serve metrics on {host}, port {port}: {error.strerror}. Stop the program that "
            "uses the port, or set METRICS_PORT to another one."
        )


def _configure_children() -> None:
    """Pass settings to gunicorn, which can't read them: logging and the metrics folder."""
    os.environ["LOG_LEVEL"], os.environ["LOG_FORMAT"] = settings.LOG_LEVEL, settings.LOG_FORMAT
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
    if settings.METRICS_ADDRESS is not None:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.METRICS_DIR)


def _web_command() -> list[str]:
    command = [sys.executable, "-m", "gunicorn", "--config", "config/server/gunicorn_settings.py"]
    command += ["--workers", str(settings.WEB_WORKERS)]
    # Arguments override this variable, so pass none that an operator has set in it.
    if "--bind" not in os.environ.get("GUNICORN_CMD_ARGS", ""):
        command += ["--bind", f"127.0.0.1:{settings.PORT}"]
    return [*command, "config.wsgi"]


def _refuse_taken_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            sys.exit(f"Only root can use port {port}. Choose another one: PORT=8000 make serve")
        except OSError:
            other_port = 8000 if port == 65535 else port + 1
            sys.exit(
                f"Port {port} is in use. Stop the program that uses it, or choose another port: "
                f"PORT={other_port} make serve"
            )


def collect_static(target: Path, source: Path) -> None:
    """Collect static files if any has changed. A stamp holds the newest modification time."""
    files = [*(source / "static").rglob("*"), source / "requirements.lock"]
    newest = str(max(path.stat().st_mtime_ns for path in files))
    stamp = target / ".stamp"
    if stamp.exists() and stamp.read_text() == newest:
        return
    # Clear only a folder that this function has filled.
    call_command("collectstatic", verbosity=0, interactive=False, clear=stamp.exists())
    stamp.write_text(newest)


def _print_welcome(base_url: str, *, local: bool) -> None:
    from accounts.models import User

    if User.objects.exists():
        print(f"\n  Sign in at {base_url}/accounts/login/", flush=True)
    elif local:
        password, key = _create_owner()
        print(
            f"\n  Your owner account. These are shown only once:\n"
            f"    email     {OWNER}\n"
            f"    password  {password}\n"
            f"    API key   {key}\n"
            f"\n  Send your first request:\n"
            f"    curl {base_url}/v1/validate -H 'Authorization: Bearer {key}' "
            "-H 'Content-Type: application/json' -d '{\"email\": \"deliverable@sandbox.test\"}'\n"
            f"\n  Sign in at {base_url}/accounts/login/, staff pages at {base_url}/admin/",
            flush=True,
        )
    else:
        print("\n  There are no users. Create the first: manage.py create_account EMAIL --staff")


@transaction.atomic
def _create_owner() -> tuple[str, str]:
    from accounts.services import create_confirmed_user, open_account, run_email_confirmed_hooks
    from apikeys.services import create_key

    password = secrets.token_urlsafe(12)
    owner = create_confirmed_user(email=OWNER, password=password, staff=True)
    account = open_account(user=owner)
    run_email_confirmed_hooks(user=owner, by_operator=True)
    _, key = create_key(account=account, name="First key", actor=owner)
    return password, key


class Supervisor:
    """Run until the web server ends, and restart the background worker whenever it ends."""

    def __init__(self, web_command: list[str]) -> None:
        self.stopping = self.reloading = False
        self.web = self._start(web_command)
        self.worker = self._start(BACKGROUND_WORKER)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGHUP, self._reload)

    def run(self) -> int:
        while (status := self.web.poll()) is None:
            if self.worker.poll() is not None and not self.stopping:
                logger.warning("The background worker ended; restarting it.")
                time.sleep(RESTART_SECONDS)
                self.worker = self._start(BACKGROUND_WORKER)
            if self.reloading:
                self._reload_code()
            time.sleep(0.2)
        self._stop_worker()
        return 0 if self.stopping else status

    def _stop_worker(self) -> None:
        self.worker.terminate()
        try:
            self.worker.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            # It's waiting for a mail server. The email's lease expires, and it's sent again.
            self.worker.kill()

    @staticmethod
    def _start(command: list[str]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(command, preexec_fn=_die_with_parent)  # noqa: PLW1509

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
        self.web.terminate()
        self.worker.terminate()

    def _reload(self, number: int, frame: FrameType | None) -> None:
        """Reload the code. Operators run `migrate` and `collectstatic` before they send SIGHUP."""
        self.reloading = True

    def _reload_code(self) -> None:
        """Reload if the new code imports, as gunicorn ends if a new worker can't start."""
        self.reloading = False
        if not can_import_code():
            print(
                "The new code can't be imported. The old code keeps running.",
                file=sys.stderr,
                flush=True,
            )
        elif not self.stopping:
            self.web.send_signal(signal.SIGHUP)
            self.worker.terminate()


def can_import_code() -> bool:
    return subprocess.run(IMPORT_CHECK, check=False).returncode == 0


def _die_with_parent() -> None:
    """Stop the child if the supervisor is killed. Only Linux supports this."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
