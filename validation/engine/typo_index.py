"""Find the domains that are one typo away from a given one, without comparing all of them. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from validation.engine.typos import Typo, classify_typo

# A typo changes either the first letters of a domain or the rest, but not both.
_HEAD = 4
# The first domains have by far the most users.
_FAMOUS_RANKS = 8
# Of two likely typos, the domain at a rank that is so many times better is meant.
_MUCH_BETTER = 4
# A less likely typo of a domain at a rank that is so many times better may be meant, too.
_BETTER = 2


class Match(NamedTuple):
    """A domain that may have been meant. Of several, the most likely sorts first."""

    typo: Typo
    # The position in the index, where the best known domain comes first.
    rank: int
    domain: str


class TypoIndex:
    def __init__(self, domains: Sequence[str]) -> None:
        """Index the domains. The best known come first."""
        self._domains = domains
        self._ranks_by_part: dict[str, list[int]] = {}
        self._domains_by_name: dict[str, list[str]] = {}
        for rank, domain in enumerate(domains):
            # Swapped letters may be the last of the head and the first of the rest.
            for part in {domain[:_HEAD], domain[_HEAD:], domain[_HEAD + 1 :]}:
                self._ranks_by_part.setdefault(part, []).append(rank)
            self._domains_by_name.setdefault(domain.partition(".")[0], []).append(domain)

    def find(self, typed: str) -> list[Match]:
        """Return the domains that are one typo away, the most likely first."""
        shortest, longest = len(typed) - 1, len(typed) + 1
        matches = []
        for rank in self._find_similar(typed):
            domain = self._domains[rank]
            # Cheaper than to compare letters, and decides most.
            if shortest <= len(domain) <= longest:
                typo = classify_typo(typed, domain)
                if typo is not None:
                    matches.append(Match(typo, rank, domain))
        return sorted(matches, key=_likelihood)

    def find_similar(self, typed: str) -> list[str]:
        """Return the domains with the same first letters or the same rest."""
        return [self._domains[rank] for rank in sorted(self._find_similar(typed))]

    def find_by_name(self, name: str) -> list[str]:
        """Return the domains whose first label is `name`, the best known first."""
        return self._domains_by_name.get(name, [])

    def _find_similar(self, typed: str) -> set[int]:
        by_part = self._ranks_by_part
        # A letter may be omitted from the head, or be added to it.
        parts = (typed[:_HEAD], typed[_HEAD - 1 :], typed[_HEAD:], typed[_HEAD + 1 :])
        return {rank for part in parts if part in by_part for rank in by_part[part]}


def choose_best(matches: Sequence[Match], unlikely: Sequence[Match] = ()) -> Match | None:
    """Return the match that was probably meant, or None if another one may be meant as well.

    An unlikely match is never returned. It rules out the best one if it's better known.
    """
    if not matches:
        return None
    first = matches[0]
    rivals = [match for match in matches if _is_rival(match, first)]
    best = next((match for match in rivals if _is_better_known(match, first)), first)
    is_clear = all(match == best or _is_better_known(best, match) for match in rivals)
    # mail.au has two letters of mail.ua swapped, but mail.ru has many more users.
    others = (*matches, *unlikely)
    is_best_known = not any(_is_better_known(match, best, times=_BETTER) for match in others)
    return best if is_clear and is_best_known else None


def _is_rival(match: Match, first: Match) -> bool:
    """Whether a match is about as likely as the first one, apart from how well known they are."""
    if _likelihood(match)[0] == _likelihood(first)[0]:
        return True
    # Among a provider's countries, how well known one is says more than where its keys are.
    has_same_name = match.domain.partition(".")[0] == first.domain.partition(".")[0]
    return has_same_name and first.typo >= Typo.ADJACENT_KEY


def _is_better_known(match: Match, other: Match, times: int = _MUCH_BETTER) -> bool:
    return other.rank >= times * (match.rank + _FAMOUS_RANKS)


def _likelihood(match: Match) -> tuple[Typo, int]:
    """Return a sort key. For so many users, even an unlikely typo is a common one."""
    is_famous = match.rank < _FAMOUS_RANKS
    return min(match.typo, Typo.ADJACENT_KEY) if is_famous else match.typo, match.rank
