from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from runtime.database.backups import write_backup
from runtime.jobs.machine_metrics import record_backup
from runtime.management.base import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Writes a backup of the database to one file while the service runs. The file contains no "
        "secrets from the settings."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a new file, or an existing folder")

    def handle(self, *, path: Path, **_: Any) -> None:
        self.stdout.write(str(write_backup(path)))
        record_backup()
