"""Let independent lists of disposable domains vote on each name. Pure.

Public lists copy each other, so being on many of them proves little. A list's vote counts only for
names that it can't have copied.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

# A list with more than this share of another, smaller list copies it.
MAX_SHARED = 0.95
# How many votes a name needs, or one of a curated list and one other.
CUTOFF = 3


@dataclass(frozen=True)
class NameList:
    """A published list of disposable domains."""

    package: str
    # Lists of one family have the same maintainers.
    family: str
    names: frozenset[str]
    # Whether each name was added on evidence: a proven report, or seen on a provider's own page.
    is_curated: bool = False
    # Packages whose lists it copies, even if their current names don't show it.
    copies: frozenset[str] = frozenset()


def find_copied(copy: NameList, lists: Sequence[NameList]) -> list[NameList]:
    """Return the lists that a list copies."""
    return [
        original
        for original in lists
        if original.package in copy.copies
        or (
            len(original.names) < len(copy.names)
            and len(original.names & copy.names) > MAX_SHARED * len(original.names)
        )
    ]


def count_votes(lists: Sequence[NameList]) -> Counter[str]:
    """Return the votes for each name, without those of lists that copied it."""
    votes: Counter[str] = Counter()
    for voter in lists:
        copied = frozenset[str]().union(*(one.names for one in find_copied(voter, lists)))
        votes.update(voter.names - copied)
    return votes


def elect(lists: Sequence[NameList], cutoff: int = CUTOFF) -> frozenset[str]:
    """Return the names with enough votes."""
    curated = frozenset[str]().union(*(one.names for one in lists if one.is_curated))
    votes = count_votes(lists)
    return frozenset(
        name for name, count in votes.items() if count >= (2 if name in curated else cutoff)
    )


def find_unseconded(earlier: frozenset[str], lists: Sequence[NameList]) -> frozenset[str]:
    """Return the names of a curated list's earlier release that no other list has taken up.

    The earlier release is older than the other lists. Names added to it later may be too new for
    them.
    """
    votes = count_votes(lists)
    return frozenset(name for name in earlier if votes[name] == 1)
