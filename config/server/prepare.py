"""Prepare a start: private data folder, database, static files, metrics and the first owner.

`make serve` calls `prepare` (prepare_local.py), and so does
deploy/systemd/email-validation-web.service. If nothing has changed since the last start, it reads
no migration and no static file.
"""

import os
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from runtime.metrics.exporter import delete_metric_files


def load_settings() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        django.setup()
    except ImproperlyConfigured as error:
        sys.exit(str(error))


def prepare() -> None:
    """Get everything ready to serve, or exit with a message."""
    _make_private(settings.DATA_DIR)
    try:
        call_command("migrate", verbosity=0, interactive=False, if_missing=True)
    except CommandError as error:
        sys.exit(str(error))
    if settings.COLLECT_STATIC:
        collect_static(settings.STATIC_ROOT, settings.BASE_DIR)
    if settings.METRICS_ADDRESS is not None and not has_live_writer(settings.METRICS_DIR):
        delete_metric_files(settings.METRICS_DIR)
    # It imports models, which need Django to be set up.
    from config.server.first_owner import print_welcome

    print_welcome(settings.BASE_URL, local=not settings.PRODUCTION)


def _make_private(folder: Path) -> None:
    try:
        folder.chmod(0o700)
    except OSError as error:
        sys.exit(
            f"Can't change the permissions of {folder}: {error.strerror}. Make the user that runs "
            "this command its owner, or set DATA_DIR to another folder."
        )


def collect_static(target: Path, source: Path) -> None:
    """Collect static files if any has changed. A stamp holds the fingerprint of those collected."""
    fingerprint, stamp = static_fingerprint(source), target / ".stamp"
    # Clear only a folder that this function has filled.
    is_filled = stamp.exists()
    if is_filled:
        if stamp.read_text() == fingerprint:
            return
        # If this is interrupted, the next start collects again, whatever the release.
        stamp.write_text("")
    call_command("collectstatic", verbosity=0, interactive=False, clear=is_filled)
    stamp.write_text(fingerprint)


def static_fingerprint(source: Path) -> str:
    """Return a digest that changes with each file's name, size and time, and with the libraries."""
    digest = sha256()
    files = (path for path in (source / "static").rglob("*") if path.is_file())
    for path in sorted([*files, source / "requirements.lock"]):
        status = path.stat()
        digest.update(
            f"{path.relative_to(source)} {status.st_size} {status.st_mtime_ns}\n".encode()
        )
    return digest.hexdigest()


def has_live_writer(folder: Path) -> bool:
    """Return whether a running process writes metrics, such as the worker while the web restarts.

    Then the totals continue. Otherwise the files are those of an earlier run. prometheus_client
    ends the name of each file with the id of its process.
    """
    for process in {int(path.stem.rpartition("_")[2]) for path in folder.glob("*.db")} - {0}:
        # PermissionError: the id belongs to another user's process by now.
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, 0)
            return True
    return False


if __name__ == "__main__":
    load_settings()
    prepare()
