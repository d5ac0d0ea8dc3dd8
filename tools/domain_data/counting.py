"""Let independent lists of disposable domains vote on each name. Pure.

Public lists copy each other, so being on many of them proves little. A list's vote counts only for
names that it can't have copied.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

# A list with more than this share of another, smaller list copies it.
MAX_SHARED = 0.95
# How many votes a name needs, or one of a curated list and one other.
CUTOFF = 3
# How many it needs if it accepts mail. Most names that were given up have fewer.
CUTOFF_OF_VERIFIED = 2


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
    # Whether each name accepted mail when the list was published. Such a list doesn't vote.
    is_verified: bool = False
    # Whether somebody looks at each name. Otherwise many are ordinary businesses.
    is_reviewed: bool = True


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
        copied = join(find_copied(voter, lists))
        votes.update(voter.names - copied)
    return votes


def elect(lists: Sequence[NameList], cutoff: int = CUTOFF) -> frozenset[str]:
    """Return the names with enough votes, whether or not they accept mail."""
    curated = join(one for one in lists if one.is_curated)
    votes = count_votes([one for one in lists if not one.is_verified])
    return frozenset(
        name for name, count in votes.items() if count >= (2 if name in curated else cutoff)
    )


def elect_verified(lists: Sequence[NameList], is_likely: Callable[[str], bool]) -> frozenset[str]:
    """Return the names that accept mail and are on a curated list, or on enough reviewed ones.

    For a name that is likely, one list is enough. Lists that collect their names from the same
    places as the one that verifies them don't count.
    """
    verified = [one for one in lists if one.is_verified]
    families = {one.family for one in verified}
    voters = [one for one in lists if one.family not in families]
    curated = join(one for one in voters if one.is_curated)
    votes, reviewed = count_votes(voters), count_votes([one for one in voters if one.is_reviewed])
    return frozenset(
        name
        for name in join(verified)
        if name in curated
        or reviewed[name] >= CUTOFF_OF_VERIFIED
        or (votes[name] and is_likely(name))
    )


def join(lists: Iterable[NameList]) -> frozenset[str]:
    return frozenset[str]().union(*(one.names for one in lists))


def find_unseconded(earlier: frozenset[str], lists: Sequence[NameList]) -> frozenset[str]:
    """Return the names of a curated list's earlier release that no other list has taken up.

    Those that accept mail are left out.

    The earlier release is older than the other lists. Names added to it later may be too new for
    them.
    """
    votes = count_votes([one for one in lists if not one.is_verified])
    verified = join(one for one in lists if one.is_verified)
    return frozenset(name for name in earlier - verified if votes[name] == 1)
