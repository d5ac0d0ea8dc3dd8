"""Find the provider's domain for a name without periods: `gmail`, `gmailcom`, `gmial`, `yahoocouk`.

Pure, except for the domain data that callers pass in.
"""

from functools import cache
from typing import NamedTuple

from validation.engine.domain_data import DomainData
from validation.engine.suggestions.provider_names import FAMOUS_NAMES, is_distinctive, is_long
from validation.engine.typo_index import Match, TypoIndex, choose_best
from validation.engine.typos import Typo, starts_alike

# Short names of providers that are no words.
_DISTINCTIVE_SHORT_NAMES = ("aol", "gmx", "msn", "ymail")


class _BareNames(NamedTuple):
    # The provider's domain, by what people type without periods.
    domains: dict[str, str]
    typo_index: TypoIndex


def suggest_for_bare_name(typed: str, data: DomainData) -> str | None:
    """Return the provider's domain for a name or a typo of it, or None if several may be meant."""
    names = _bare_names(data)
    if typed in names.domains:
        return names.domains[typed]
    # `mail` is the name of several providers, and no typo of `gmail`.
    if data.typo_index.find_by_name(typed):
        return None
    likely = [match for match in names.typo_index.find(typed) if _is_likely(typed, match)]
    nearest = choose_best(likely)
    return names.domains[nearest.domain] if nearest is not None else None


def _is_likely(typed: str, match: Match) -> bool:
    is_slip = match.typo is not Typo.OTHER and is_long(match.domain)
    return is_slip and starts_alike(typed, match.domain)


@cache
def _bare_names(data: DomainData) -> _BareNames:
    domains: dict[str, str] = {}
    for domain in data.typo_targets:
        name = domain.partition(".")[0]
        is_only = len(data.typo_index.find_by_name(name)) == 1
        if name in (*FAMOUS_NAMES, *_DISTINCTIVE_SHORT_NAMES) or (is_only and is_distinctive(name)):
            domains.setdefault(name, domain)
    for domain in (*data.typo_targets, *sorted(data.free_providers)):
        # Without its period, e.email is a word.
        if "." not in domain[:2]:
            domains.setdefault(domain.replace(".", ""), domain)
    return _BareNames(domains, TypoIndex(tuple(domains)))
