"""Let public lists vote on disposable domains, and write the data files that result.

    python -m tools.domain_data.vote 2026-07-18=mailchecker-6.0.21.tgz …

`npm pack` and `pip download` save the archives. `tools.domain_data.update` builds on the files.
"""

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

from engine.domain_data import DATA_FOLDER, DomainData
from tools.domain_data.archives import (
    CURATED,
    VERIFIED,
    VERIFIED_FILE,
    PublishedList,
    UnknownArchive,
    read_archive,
)
from tools.domain_data.counting import elect, elect_verified, find_unseconded
from tools.domain_data.exclusions import find_excluded, is_likely, load_protected
from tools.domain_data.measures import measure
from tools.domain_data.update import Update, find_invalid

# Between the verification and the newest list.
MAX_AGE = timedelta(days=100)


class InvalidVote(Exception):
    pass


@dataclass(frozen=True)
class VoteResult:
    voters: tuple[PublishedList, ...]
    # Names that `disposable.txt` doesn't get from the curated list's package.
    voted: Update
    unseconded: Update

    def describe_voters(self) -> str:
        return json.dumps([voter.facts() for voter in self.voters], indent=2) + "\n"

    def write_voters(self, folder: Path = DATA_FOLDER) -> None:
        (folder / "disposable_voters.json").write_text(self.describe_voters(), encoding="utf-8")


def hold_vote(published: Sequence[PublishedList], data: DomainData) -> VoteResult:
    """Let the newest release of each list vote.

    The curated list needs an earlier release too, so old that the others could have taken up its
    names: without it, a name that no other list has could be too new for them.
    """
    newest = {one.source.package: one for one in sorted(published, key=lambda one: one.date)}
    earlier = min(
        (one for one in published if one.source.package == CURATED),
        key=lambda one: one.date,
        default=None,
    )
    if earlier is None or earlier is newest[CURATED]:
        raise InvalidVote(f"Add the newest and an earlier release of {CURATED}.")
    if len(newest) < 3:
        raise InvalidVote("Add at least three lists.")
    _require_fresh(newest)
    voters = tuple(newest.values())
    lists = [voter.votes for voter in voters]
    curated = newest[CURATED].names
    voted = elect(lists) | elect_verified(lists, partial(is_likely, data=data))
    voted -= curated
    return VoteResult(
        voters,
        _build(
            "disposable_voted", voters, voted - find_invalid(voted) - find_excluded(voted, data)
        ),
        _build("disposable_unseconded", voters, find_unseconded(earlier.names & curated, lists)),
    )


def _require_fresh(newest: Mapping[str, PublishedList]) -> None:
    if VERIFIED not in newest:
        raise InvalidVote(f"Add {VERIFIED_FILE} of {VERIFIED}.")
    last = max(date.fromisoformat(one.date) for one in newest.values())
    if last - date.fromisoformat(newest[VERIFIED].date) > MAX_AGE:
        raise InvalidVote(f"{VERIFIED_FILE} is too old to say which names accept mail.")


def _build(name: str, voters: Sequence[PublishedList], entries: frozenset[str]) -> Update:
    return Update(
        name,
        f"vote of {len(voters)} lists (disposable_voters.json)",
        max(voter.date for voter in voters),
        ", ".join(sorted({voter.source.license for voter in voters})),
        entries,
        program="tools.domain_data.vote",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    data = DomainData()
    try:
        result = hold_vote([read_archive(path, day) for day, path in options.archives], data)
    except (InvalidVote, UnknownArchive) as error:
        raise SystemExit(f"{error} No file was changed.") from error
    for update in (result.voted, result.unseconded):
        update.write(datetime.now(UTC).date(), options.folder)
        print(f"{update.name}: {len(update.entries):,} entries.")
    result.write_voters(options.folder)
    for one in measure([voter.votes for voter in result.voters], load_protected(data)):
        own = "" if one.own_recall is None else f", own names {one.own_recall:.1%}"
        print(
            f"{one.vote}: {one.elected:,} names, recall {one.recall:.1%}{own}, "
            f"{one.protected} protected domains."
        )
    print("Now run `python -m tools.domain_data.update`.")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m tools.domain_data.vote")
    parser.add_argument(
        "archives",
        nargs="+",
        metavar="DATE=FILE",
        type=_archive,
        help="when an archive was published, and its file",
    )
    parser.add_argument(
        "--folder", type=Path, default=DATA_FOLDER, help="where to write the data files"
    )
    return parser


def _archive(text: str) -> tuple[str, Path]:
    published, _, path = text.partition("=")
    try:
        date.fromisoformat(published)
    except ValueError as error:
        raise ArgumentTypeError(f"{text} doesn't start with a date and =.") from error
    return published, Path(path)


if __name__ == "__main__":
    main()
