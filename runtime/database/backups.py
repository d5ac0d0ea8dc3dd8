"""Back up the database to one zip file, with a note on the secrets that the data depends on.

The file is either complete or absent, and its checksums detect damage. A CommandError's message is
for the operator; nothing was changed.
"""

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
# The database contains values that were hashed or encrypted with these.
SECRETS = ("SECRET_KEY", "API_KEY_PEPPER", "API_KEY_PEPPER_PREVIOUS", "ADDRESS_HASH_KEY")


class Note(TypedDict):
    # The dump's file name.
    database: str
    made_at: str
    # Fingerprints by setting.
    secrets: dict[str, str]


def write_backup(path: Path) -> Path:
    """Write a backup and return its path. If `path` is a folder, name the file after the time."""
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
        # Only its owner can read the folder.
        with TemporaryDirectory(prefix=".backup-", dir=path.parent) as folder:
            draft = _write(Path(folder), note)
            read_note(draft)
            draft.rename(path)
    except OSError as error:
        raise CommandError(f"Can't write {path}: {error.strerror}.") from error
    return path


def _write(folder: Path, note: Note) -> Path:
    draft, dump = folder / "draft", folder / note["database"]
    dumps.dump(dump)
    with ZipFile(draft, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        archive.write(dump, dump.name)
        archive.writestr(NOTE, json.dumps(note, indent=2))
    draft.chmod(0o600)
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    return draft


def read_note(path: Path) -> Note:
    """Return the backup's note, after checking the whole file: a restore must not fail halfway."""
    try:
        with ZipFile(path) as archive:
            damaged_name = archive.testzip()
            note: Note = json.loads(archive.read(NOTE))
            archive.getinfo(note["database"])
    except FileNotFoundError:
        raise CommandError(f"There is no file {path}.") from None
    # A damaged file can make zipfile and zlib raise almost anything.
    except Exception as error:
        raise CommandError(f"{path} is damaged, or not a backup: {error}") from error
    if damaged_name:
        raise CommandError(f"{path} is damaged: the checksum of {damaged_name} is wrong.")
    return note


def restore_backup(path: Path, note: Note, *, other_secrets: bool = False) -> None:
    """Restore a backup into an empty database.

    `other_secrets`: restore even if secrets that the backup depends on aren't configured.
    """
    name = dumps.dump_name()
    if note["database"] != name:
        raise CommandError(f"{path} contains {note['database']}, but DATABASE_URL needs {name}.")
    if not other_secrets:
        _require_same_secrets(note["secrets"])
    dumps.require_empty_database()
    try:
        with (
            TemporaryDirectory(prefix=".restore-", dir=dumps.restore_folder()) as folder,
            ZipFile(path) as archive,
        ):
            dumps.restore(Path(archive.extract(name, folder)))
    except OSError as error:
        raise CommandError(f"Can't restore {path}: {error.strerror}.") from error


def _require_same_secrets(fingerprints: dict[str, str]) -> None:
    previous = (_fingerprint(str(key)) for key in settings.SECRET_KEY_FALLBACKS)
    configured = {*_fingerprints().values(), *previous}
    missing = [name for name, value in fingerprints.items() if value not in configured]
    if missing:
        raise CommandError(
            f"First, set the secrets this backup was made with: {', '.join(missing)}. Without "
            "them, no API key and no second factor works. If they are lost, use "
            "--with-other-secrets."
        )


def _fingerprints() -> dict[str, str]:
    secrets = {name: getattr(settings, name) for name in SECRETS}
    return {name: _fingerprint(secret) for name, secret in secrets.items() if secret}


def _fingerprint(secret: str) -> str:
    """Return a value that identifies the secret without revealing it."""
    return hmac.digest(secret.encode(), b"Which secret is it?", "sha256").hex()[:16]
