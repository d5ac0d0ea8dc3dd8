"""Find the provider's domain for `gmail`, `gmailcom`, `gmial`, `yahoocouk`."""

from functools import lru_cache
from typing import NamedTuple

from engine.domain_data import DomainData
from engine.suggestions.provider_names import FAMOUS_NAMES, is_distinctive, is_long
from engine.typo_index import TypoIndex, choose_best, name_of
from engine.typos import Typo, starts_alike

# Short, or with domains in several countries, of which one has most users.
_MAIN_DOMAIN_NAMES = (
    *("aol", "gmx", "interia", "msn", "t-online", "tutanota", "wanadoo", "yandex", "ymail"),
)


class _BareNames(NamedTuple):
    domains: dict[str, str]
    typo_index: TypoIndex


def suggest_for_bare_name(typed: str, data: DomainData) -> str | None:
    """Return None if several domains may be meant."""
    names = _bare_names(data, data.generation)
    if typed in names.domains:
        return names.domains[typed]
    # Several providers are named `mail`.
    if data.typo_index.find_by_name(typed):
        return None
    nearest = choose_best(
        [
            match
            for match in names.typo_index.find(typed)
            if match.typo is not Typo.OTHER
            and is_long(match.domain)
            and starts_alike(typed, match.domain)
        ]
    )
    return names.domains[nearest.domain] if nearest is not None else None


@lru_cache(maxsize=2)
def _bare_names(data: DomainData, generation: object) -> _BareNames:
    domains: dict[str, str] = {}
    for domain in data.typo_targets:
        name = name_of(domain)
        is_only = len(data.typo_index.find_by_name(name)) == 1
        if name in (*FAMOUS_NAMES, *_MAIN_DOMAIN_NAMES) or (is_only and is_distinctive(name)):
            domains.setdefault(name, domain)
    for domain in (*data.typo_targets, *sorted(data.free_providers)):
        # Without its period, e.email is a word.
        if "." not in domain[:2]:
            domains.setdefault(domain.replace(".", ""), domain)
    return _BareNames(domains, TypoIndex(tuple(domains)))
