"""Measure votes, to choose the cutoff and to see how much depends on each list. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tools.domain_data.counting import CUTOFF, NameList, elect

# A name on so many families is taken to be disposable.
_WIDELY_LISTED = 5
_CUTOFFS = (2, 3, 4)


class Measure(NamedTuple):
    vote: str
    elected: int
    # Shares of the widely listed names, and of the names of the family that is left out.
    recall: float
    own_recall: float | None
    # Legitimate domains that would be listed if they weren't protected.
    protected: int


def find_widely_listed(lists: Sequence[NameList]) -> frozenset[str]:
    """Return the names on enough families, without lists that are known to copy others."""
    families: dict[str, frozenset[str]] = {}
    for one in lists:
        if not one.copies:
            families[one.family] = families.get(one.family, frozenset()) | one.names
    counts = Counter(name for names in families.values() for name in names)
    return frozenset(name for name, count in counts.items() if count >= _WIDELY_LISTED)


def measure(lists: Sequence[NameList], protected: frozenset[str]) -> Iterator[Measure]:
    """Yield the measures of votes with other cutoffs, and of votes without one of the families."""
    wanted = find_widely_listed(lists)

    def describe(vote: str, elected: frozenset[str], own: frozenset[str] | None) -> Measure:
        return Measure(
            vote,
            len(elected),
            _share(wanted, elected),
            None if own is None else _share(own, elected),
            len(elected & protected),
        )

    for cutoff in _CUTOFFS:
        note = ", in use" if cutoff == CUTOFF else ""
        yield describe(f"cutoff {cutoff}{note}", elect(lists, cutoff), None)
    for family in dict.fromkeys(one.family for one in lists):
        own = frozenset[str]().union(*(one.names for one in lists if one.family == family))
        others = [one for one in lists if one.family != family]
        yield describe(f"without {family}", elect(others), own)


def _share(names: frozenset[str], elected: frozenset[str]) -> float:
    return len(names & elected) / len(names) if names else 1.0
