from argparse import ArgumentParser
from pathlib import Path

from django.core.management import call_command

from runtime.database.backups import read_note, restore_backup
from runtime.management.base import ProductCommand


class Command(ProductCommand):
    help = "Restore a backup into an empty database, then run migrate and check_books."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="backup written by back_up")
        parser.add_argument(
            "--check", action="store_true", help="only check that the backup is complete"
        )
        parser.add_argument(
            "--with-other-secrets",
            action="store_true",
            help="restore without the secrets the backup was made with; no API key in it will work",
        )

    def handle(self, *, path: Path, check: bool, with_other_secrets: bool, **_: object) -> None:
        note = read_note(path)
        if not check:
            restore_backup(path, note, other_secrets=with_other_secrets)
        self.stdout.write(f"{path} is complete. It was made at {note['made_at']}.")
        if not check:
            call_command("migrate", verbosity=0, interactive=False)
            call_command("check_books", stdout=self.stdout)
