from collections.abc import Sequence
from typing import NamedTuple

from engine.typos import Typo, classify_typo

# One typo changes either the head or the rest.
_HEAD = 4
_FAMOUS_RANKS = 8
_MUCH_BETTER = 4
_BETTER = 2


class Match(NamedTuple):
    """A domain that may have been meant. The likeliest sorts first."""

    typo: Typo
    rank: int
    domain: str

    @property
    def name(self) -> str:
        return name_of(self.domain)

    def has_same_tld(self, domain: str) -> bool:
        return self.domain.rpartition(".")[2] == domain.rpartition(".")[2]


class TypoIndex:
    def __init__(self, domains: Sequence[str]) -> None:
        self._domains = domains
        self._ranks_by_part: dict[str, list[int]] = {}
        self._domains_by_name: dict[str, list[str]] = {}
        for rank, domain in enumerate(domains):
            # Swapped letters may cross from head to rest.
            for part in {domain[:_HEAD], domain[_HEAD:], domain[_HEAD + 1 :]}:
                self._ranks_by_part.setdefault(part, []).append(rank)
            self._domains_by_name.setdefault(name_of(domain), []).append(domain)

    def find(self, typed: str) -> list[Match]:
        shortest, longest = len(typed) - 1, len(typed) + 1
        matches = []
        for rank in self._find_similar(typed):
            domain = self._domains[rank]
            if shortest <= len(domain) <= longest:
                typo = classify_typo(typed, domain)
                if typo is not None:
                    matches.append(Match(typo, rank, domain))
        return sorted(matches, key=_likelihood)

    def find_similar(self, typed: str) -> list[str]:
        return [self._domains[rank] for rank in sorted(self._find_similar(typed))]

    def find_by_name(self, name: str) -> list[str]:
        return self._domains_by_name.get(name, [])

    def _find_similar(self, typed: str) -> set[int]:
        by_part = self._ranks_by_part
        # The head may lack a letter, or have one more.
        parts = (typed[:_HEAD], typed[_HEAD - 1 :], typed[_HEAD:], typed[_HEAD + 1 :])
        return {rank for part in parts if part in by_part for rank in by_part[part]}


def name_of(domain: str) -> str:
    return domain.partition(".")[0]


def choose_best(matches: Sequence[Match], unlikely: Sequence[Match] = ()) -> Match | None:
    """Return the match that was probably meant, unless another one may be."""
    if not matches:
        return None
    first = matches[0]
    rivals = [match for match in matches if _is_rival(match, first)]
    best = next((match for match in rivals if _is_better_known(match, first)), first)
    is_clear = all(match == best or _is_better_known(best, match) for match in rivals)
    # mail.au swaps letters of mail.ua, but mail.ru is better known.
    others = (*matches, *unlikely)
    is_best_known = not any(_is_better_known(match, best, times=_BETTER) for match in others)
    return best if is_clear and is_best_known else None


def _is_rival(match: Match, first: Match) -> bool:
    if _likelihood(match)[0] == _likelihood(first)[0]:
        return True
    # Among a provider's countries, rank says more than keys.
    return match.name == first.name and first.typo >= Typo.ADJACENT_KEY


def _is_better_known(match: Match, other: Match, times: int = _MUCH_BETTER) -> bool:
    return other.rank >= times * (match.rank + _FAMOUS_RANKS)


def _likelihood(match: Match) -> tuple[Typo, int]:
    """Rank typos of famous domains higher: even unlikely ones are common."""
    is_famous = match.rank < _FAMOUS_RANKS
    return min(match.typo, Typo.ADJACENT_KEY) if is_famous else match.typo, match.rank
