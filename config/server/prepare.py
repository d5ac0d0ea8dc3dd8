"""Prepare a start.

`make serve` calls this, and so does each pool in production, where the first one migrates and the
others wait.
"""

import os
from hashlib import sha256
from pathlib import Path

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from config.server.environment import fail


def load_settings() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        django.setup()
    except ImproperlyConfigured as error:
        fail(str(error))


def prepare() -> None:
    _make_private(settings.DATA_DIR)
    try:
        call_command("migrate", verbosity=0, interactive=False, if_missing=True)
    except CommandError as error:
        fail(str(error))
    if settings.COLLECT_STATIC:
        collect_static(settings.STATIC_ROOT, settings.BASE_DIR)
    if settings.METRICS_ADDRESS is not None:
        # It imports prometheus_client, for which the settings prepare the environment.
        from runtime.metrics.exporter import delete_earlier_metrics

        delete_earlier_metrics(settings.METRICS_DIR)
    # It imports models, which need Django to be set up.
    from config.server.first_owner import print_welcome

    print_welcome(settings.BASE_URL, local=not settings.PRODUCTION)


def _make_private(folder: Path) -> None:
    try:
        folder.chmod(0o700)
    except OSError as error:
        fail(
            f"Can't change the permissions of {folder}: {error.strerror}. Make the user that runs "
            "this command its owner, or set DATA_DIR to another folder."
        )


def collect_static(target: Path, source: Path) -> None:
    """Collect static files if any has changed since the stamp was written."""
    fingerprint, stamp = static_fingerprint(source), target / ".stamp"
    # Clear only a folder that this function has filled.
    is_filled = stamp.exists()
    if is_filled:
        if stamp.read_text() == fingerprint:
            return
        # If this is interrupted, the next start collects again.
        stamp.write_text("")
    call_command("collectstatic", verbosity=0, interactive=False, clear=is_filled)
    stamp.write_text(fingerprint)


def static_fingerprint(source: Path) -> str:
    digest = sha256()
    files = (path for path in (source / "static").rglob("*") if path.is_file())
    for path in sorted([*files, source / "requirements.lock"]):
        status = path.stat()
        digest.update(
            f"{path.relative_to(source)} {status.st_size} {status.st_mtime_ns}\n".encode()
        )
    return digest.hexdigest()


if __name__ == "__main__":
    load_settings()
    prepare()
