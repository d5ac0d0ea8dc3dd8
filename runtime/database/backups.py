"""Back up the database to one zip file, with a note on the secrets that the data depends on.

The file is either complete or absent, and its checksums detect damage.
"""

import hmac
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.conf import settings

from runtime.database.dumps import Dump, get_dump

NOTE = "note.json"
# The database contains values that were hashed or encrypted with these.
SECRETS = ("SECRET_KEY", "API_KEY_PEPPER", "API_KEY_PEPPER_PREVIOUS", "ADDRESS_HASH_KEY")


class BackupRefused(Exception):
    """The message explains why, for the operator. Nothing was changed."""


def write_backup(path: Path) -> Path:
    """Write a backup and return its path. If `path` is a folder, name the file after the time."""
    now = datetime.now(UTC)
    if path.is_dir():
        path /= f"email-validation-{now:%Y%m%dT%H%M%SZ}.backup"
    if path.exists():
        raise BackupRefused(f"{path} already exists.")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _write(draft, get_dump(), now)
        read_note(draft)
        draft.rename(path)
    except OSError as error:
        raise BackupRefused(f"Can't write {path}: {error.strerror}.") from error
    finally:
        draft.unlink(missing_ok=True)
    return path


def _write(draft: Path, dump: Dump, now: datetime) -> None:
    with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
        with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as archive:
            with archive.open(dump.name, "w", force_zip64=True) as target:
                dump.write(target, temporary_dir=draft.parent)
            secrets = _fingerprints()
            note = {"database": dump.name, "made_at": now.isoformat(), "secrets": secrets}
            archive.writestr(NOTE, json.dumps(note, indent=2))
        file.flush()
        os.fsync(file.fileno())


def read_note(path: Path) -> dict[str, Any]:
    """Return the backup's note, after checking the whole file: a restore must not fail halfway."""
    try:
        with ZipFile(path) as archive:
            damaged_name = archive.testzip()
            note: dict[str, Any] = json.loads(archive.read(NOTE))
            archive.getinfo(note["database"])
    except FileNotFoundError:
        raise BackupRefused(f"There is no file {path}.") from None
    # A damaged file can make zipfile and zlib raise almost anything.
    except Exception as error:
        raise BackupRefused(f"{path} is damaged, or not a backup: {error}") from error
    if damaged_name:
        raise BackupRefused(f"{path} is damaged: the checksum of {damaged_name} is wrong.")
    return note


def restore_backup(path: Path, *, other_secrets: bool = False) -> None:
    """Restore a backup into an empty database.

    `other_secrets`: restore even if secrets that the backup depends on aren't configured.
    """
    note, dump = read_note(path), get_dump()
    if note["database"] != dump.name:
        raise BackupRefused(
            f"{path} contains {note['database']}, but DATABASE_URL needs {dump.name}."
        )
    if not other_secrets:
        _require_same_secrets(note["secrets"])
    dump.require_empty_target()
    try:
        with ZipFile(path) as archive, archive.open(dump.name) as source:
            dump.restore(source)
    except OSError as error:
        raise BackupRefused(f"Can't restore {path}: {error.strerror}.") from error


def _require_same_secrets(fingerprints: dict[str, str]) -> None:
    previous = (_fingerprint(str(key)) for key in settings.SECRET_KEY_FALLBACKS)
    configured = {*_fingerprints().values(), *previous}
    missing = [name for name, value in fingerprints.items() if value not in configured]
    if missing:
        raise BackupRefused(
            f"First, set the secrets this backup was made with: {', '.join(missing)}. Without "
            "them, no API key and no second factor works. If they are lost, use "
            "--with-other-secrets."
        )


def _fingerprints() -> dict[str, str]:
    return {
        name: _fingerprint(getattr(settings, name)) for name in SECRETS if getattr(settings, name)
    }


def _fingerprint(secret: str) -> str:
    """Return a value that identifies the secret without revealing it."""
    return hmac.digest(secret.encode(), b"Which secret is it?", "sha256").hex()[:16]
