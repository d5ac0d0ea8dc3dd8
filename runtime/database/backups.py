"""Back up the database, with fingerprints of the secrets it depends on."""

import hmac
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict
from zipfile import ZIP_DEFLATED, ZipFile

from django.conf import settings
from django.core.management.base import CommandError

from runtime.database import dumps

NOTE = "note.json"
SECRETS = ("SECRET_KEY", "API_KEY_PEPPER", "API_KEY_PEPPER_PREVIOUS", "ADDRESS_HASH_KEY")


class Note(TypedDict):
    database: str
    made_at: str
    secrets: dict[str, str]


def write_backup(path: Path) -> Path:
    """If `path` is a folder, name the file after the time."""
    now = datetime.now(UTC)
    if path.is_dir():
        path /= f"email-validation-{now:%Y%m%dT%H%M%SZ}.backup"
    if path.exists():
        raise CommandError(f"{path} already exists.")
    note: Note = {
        "database": dumps.dump_name(),
        "made_at": now.isoformat(),
        "secrets": _fingerprints(),
    }
    try:
        # Only its owner can read this folder.
        with TemporaryDirectory(prefix=".backup-", dir=path.parent) as folder:
            draft, dump = Path(folder, "draft"), Path(folder, note["database"])
            dumps.dump(dump)
            with ZipFile(draft, "w", ZIP_DEFLATED, compresslevel=1) as archive:
                archive.write(dump, dump.name)
                archive.writestr(NOTE, json.dumps(note, indent=2))
            draft.chmod(0o600)
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            read_note(draft)
            draft.rename(path)
    except OSError as error:
        raise CommandError(f"Can't write {path}: {error.strerror}.") from error
    return path


def read_note(path: Path) -> Note:
    """Return the note after checking the whole file: a restore must not fail halfway."""
    try:
        with ZipFile(path) as archive:
            damaged_name = archive.testzip()
            note: Note = json.loads(archive.read(NOTE))
            archive.getinfo(note["database"])
    except FileNotFoundError:
        raise CommandError(f"There is no file {path}.") from None
    # zipfile and zlib raise almost anything for a damaged file.
    except Exception as error:
        raise CommandError(f"{path} is damaged, or not a backup: {error}") from error
    if damaged_name:
        raise CommandError(f"{path} is damaged: the checksum of {damaged_name} is wrong.")
    return note


def restore_backup(path: Path, note: Note, *, other_secrets: bool = False) -> None:
    name = dumps.dump_name()
    if note["database"] != name:
        raise CommandError(f"{path} contains {note['database']}, but DATABASE_URL needs {name}.")
    previous = (_fingerprint(str(key)) for key in settings.SECRET_KEY_FALLBACKS)
    configured = {*_fingerprints().values(), *previous}
    missing = [name for name, value in note["secrets"].items() if value not in configured]
    if missing and not other_secrets:
        raise CommandError(
            f"First, set the secrets this backup was made with: {', '.join(missing)}. Without "
            "them, no API key and no second factor works. If they are lost, use "
            "--with-other-secrets."
        )
    dumps.require_empty_database()
    try:
        with (
            TemporaryDirectory(prefix=".restore-", dir=dumps.restore_folder()) as folder,
            ZipFile(path) as archive,
        ):
            dumps.restore(Path(archive.extract(name, folder)))
    except OSError as error:
        raise CommandError(f"Can't restore {path}: {error.strerror}.") from error


def _fingerprints() -> dict[str, str]:
    secrets = {name: getattr(settings, name) for name in SECRETS}
    return {name: _fingerprint(secret) for name, secret in secrets.items() if secret}


def _fingerprint(secret: str) -> str:
    return hmac.digest(secret.encode(), b"Which secret is it?", "sha256").hex()[:16]
