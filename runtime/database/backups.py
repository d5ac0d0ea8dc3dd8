"""A backup is one file: a zip with the database, and with a note on what fits it.

Any tool that opens a zip opens it. It is there whole or not at all, and its check sums tell damage.
"""

import hmac
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.conf import settings

from runtime.database.dumps import Dump, dump_of_this_database

NOTE = "note.json"
# Under each of these stands something in the database.
SECRETS = ("SECRET_KEY", "API_KEY_PEPPER", "API_KEY_PEPPER_PREVIOUS", "ADDRESS_HASH_KEY")


class BackupRefused(Exception):
    """The text is for the operator. Nothing was changed."""


def write_backup(path: Path) -> Path:
    """Where it is a folder, a file in it that is named by the time."""
    now = datetime.now(UTC)
    if path.is_dir():
        path /= f"email-validation-{now:%Y%m%dT%H%M%SZ}.backup"
    if path.exists():
        raise BackupRefused(f"{path} is there already.")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _write(draft, dump_of_this_database(), now)
        read_note(draft)
        draft.rename(path)
    except OSError as error:
        raise BackupRefused(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        draft.unlink(missing_ok=True)
    return path


def _write(draft: Path, dump: Dump, now: datetime) -> None:
    with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
        with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as archive:
            with archive.open(dump.name, "w", force_zip64=True) as target:
                dump.write(target, beside=draft.parent)
            note = {"database": dump.name, "made_at": now.isoformat(), "secrets": _marks()}
            archive.writestr(NOTE, json.dumps(note, indent=2))
        file.flush()
        os.fsync(file.fileno())


def read_note(path: Path) -> dict[str, Any]:
    """Reads the whole file, so that no damage is met half-way through a restore."""
    try:
        with ZipFile(path) as archive:
            damaged = archive.testzip()
            note: dict[str, Any] = json.loads(archive.read(NOTE))
            archive.getinfo(note["database"])
    except FileNotFoundError:
        raise BackupRefused(f"There is no file {path}.") from None
    # Whatever a damaged file makes the library raise.
    except Exception as error:
        raise BackupRefused(f"{path} is damaged, or no backup: {error}") from error
    if damaged:
        raise BackupRefused(f"{path} is damaged: {damaged} has another check sum.")
    return note


def restore_backup(path: Path, *, other_secrets: bool = False) -> None:
    note, dump = read_note(path), dump_of_this_database()
    if note["database"] != dump.name:
        raise BackupRefused(f"{path} holds {note['database']}, and this copy uses {dump.name}.")
    if not other_secrets:
        _refuse_other_secrets(note["secrets"])
    dump.refuse_what_is_there()
    try:
        with ZipFile(path) as archive, archive.open(dump.name) as source:
            dump.restore(source)
    except OSError as error:
        raise BackupRefused(f"{path} cannot be restored: {error.strerror}.") from error


def _refuse_other_secrets(marks: dict[str, str]) -> None:
    previous = (_mark(str(one)) for one in settings.SECRET_KEY_FALLBACKS)
    known = {*_marks().values(), *previous}
    missing = [name for name, mark in marks.items() if mark not in known]
    if missing:
        raise BackupRefused(
            f"Set the secrets of then first: {', '.join(missing)}. Without them no API key works, "
            "and no second factor. If they are lost: --with-other-secrets."
        )


def _marks() -> dict[str, str]:
    return {name: _mark(getattr(settings, name)) for name in SECRETS if getattr(settings, name)}


def _mark(secret: str) -> str:
    """Tells that a secret is another, and nothing of what it is."""
    return hmac.digest(secret.encode(), b"Which secret is it?", "sha256").hex()[:16]
