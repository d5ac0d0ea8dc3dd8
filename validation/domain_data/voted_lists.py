"""Build the data files that result from a vote of public lists on disposable domains."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from validation.domain_data.archives import CURATED, PublishedList
from validation.domain_data.exclusions import find_excluded
from validation.domain_data.updates import Update, find_invalid
from validation.domain_data.votes import elect, find_unseconded
from validation.engine.domain_data import DATA_FOLDER, DomainData

_COMMAND = "vote_on_disposable_domains"


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
    voters = tuple(newest.values())
    lists = [voter.votes for voter in voters]
    curated = newest[CURATED].names
    voted = elect(lists) - curated
    return VoteResult(
        voters,
        _build(
            "disposable_voted", voters, voted - find_invalid(voted) - find_excluded(voted, data)
        ),
        _build("disposable_unseconded", voters, find_unseconded(earlier.names & curated, lists)),
    )


def _build(name: str, voters: Sequence[PublishedList], entries: frozenset[str]) -> Update:
    return Update(
        name,
        f"vote of {len(voters)} lists (disposable_voters.json)",
        max(voter.date for voter in voters),
        ", ".join(sorted({voter.source.license for voter in voters})),
        entries,
        command=_COMMAND,
    )
