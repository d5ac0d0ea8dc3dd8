from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from runtime.database.backups import BackupRefused, write_backup
from runtime.database.dumps import DumpFailed
from runtime.management.base import DatabaseCommand


class Command(DatabaseCommand):
    help = "Writes the whole database into one file, while the product runs. No secret is in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a new file, or a folder for it")

    def handle(self, *, path: Path, **_: Any) -> None:
        try:
            written = write_backup(path)
        except (BackupRefused, DumpFailed) as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{written}")
