from typing import Any

from django.core.management.base import CommandError, CommandParser

from engine import ReleaseRefused
from runtime.management.base import DatabaseCommand
from validation.domain_data.releases import read_archive, store_release


class Command(DatabaseCommand):
    help = "Stores a signed release of the domain data, which all processes load within a minute."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--from", dest="source", required=True, metavar="URL|FILE", help="the release"
        )

    def handle(self, *, source: str, **_: Any) -> None:
        try:
            release = store_release(read_archive(source))
        except (OSError, ReleaseRefused, ValueError) as error:
            raise CommandError(f"The domain data stay as they are. {error}") from error
        self.stdout.write(f"Stored the domain data of {release.created_at:%Y-%m-%d %H:%M} UTC.")
