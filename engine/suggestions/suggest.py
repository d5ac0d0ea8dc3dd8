"""Suggest the domain that was meant, or none rather than a wrong one."""

from engine.domain_data import DomainData
from engine.suggestions.endings import complete_ending, correct_unknown_ending, undouble_ending
from engine.suggestions.evidence import CROWDED_ENDINGS, is_likely, is_rare_enough, is_recognizable
from engine.suggestions.provider_names import FAMOUS_NAMES, is_distinctive, is_long
from engine.suggestions.squats import find_squatted_domain
from engine.typo_index import Match, choose_best, name_of
from engine.typos import Typo, edit_distance, starts_alike

_PROVIDERS_WITH_OWN_HOSTS = {"microsoft_consumer", "yahoo"}
_MIN_NAME_IN_COUNTRY = 3
_MIN_NAME_OF_ITS_OWN = 6


def suggest_domain(
    domain: str,
    domain_data: DomainData,
    *,
    accepts_mail: bool | None,
    provider: str | None = None,
    is_idle: bool = False,
) -> str | None:
    """Return the domain that was probably meant.

    `accepts_mail` is None if unknown. `is_idle`: its records show that its mail is unused.
    """
    if known := domain_data.known_typos.get(domain):
        return known
    if domain_data.is_well_known(domain) or provider in _PROVIDERS_WITH_OWN_HOSTS:
        return None
    if accepts_mail is False or not domain_data.has_top_level_domain(domain):
        suggestion = _correct_broken_domain(domain, domain_data)
    else:
        suggestion = find_squatted_domain(domain, domain_data, provider=provider, is_idle=is_idle)
    is_usable = suggestion is not None and not domain_data.is_reserved(suggestion)
    return suggestion if is_usable else None


def _correct_broken_domain(domain: str, data: DomainData) -> str | None:
    name, _, ending = domain.partition(".")
    # As in g.mail.
    if (joined := domain.replace(".", "")) in FAMOUS_NAMES:
        return data.typo_index.find_by_name(joined)[0]
    # As in www.gmail.com, gmailcom.com.
    for stripped in (domain.removeprefix("www."), f"{name.removesuffix('com')}.{ending}"):
        if stripped != domain and data.is_well_known(stripped):
            return stripped
    undoubled = undouble_ending(domain, data)
    if undoubled:
        return undoubled if data.is_well_known(undoubled) else _correct_working(undoubled, data)
    # hotmail.c is hardly hotmail.ch, which has far fewer users.
    if ending == "c" and data.typo_index.find_by_name(name)[:1] == [f"{name}.com"]:
        return f"{name}.com"
    in_country = _find_in_country(domain, data)
    if in_country:
        # yahoo.com.gr may also be a slip in the better-known yahoo.com.br.
        domains = data.typo_index.find_by_name(name)
        better_known = domains[: domains.index(in_country)]
        slips = [m for m in data.typo_index.find(domain) if m.typo is not Typo.OTHER]
        is_unclear = any(slip.domain in better_known for slip in slips)
        return None if is_unclear else in_country
    return _correct_typo(domain, data)


def _correct_typo(domain: str, data: DomainData) -> str | None:
    name = name_of(domain)
    found = data.typo_index.find(domain)
    matches = [match for match in found if not _is_in_other_country(domain, match, data)]
    best = choose_best(matches, found)
    if best is not None and (
        is_likely(domain, best) or _has_broken_ending(domain, best, matches, data)
    ):
        return best.domain
    has_own_name = any(match.name == name for match in matches)
    if not has_own_name and not data.has_top_level_domain(domain):
        corrected = correct_unknown_ending(domain)
        is_known = corrected is not None and data.is_well_known(corrected)
        # gmail.fvr isn't gmail.fr.
        if corrected and (is_known or name not in FAMOUS_NAMES):
            return corrected if is_known else _correct_working(corrected, data)
    same_name = data.typo_index.find_by_name(name)
    # 1mail.com may be mail.com, although Gmail is larger.
    has_digit = domain[0].isdigit() and data.is_well_known(domain[1:])
    if best is not None and not (has_digit and best.domain != domain[1:]):
        # gmail.it is no typo of email.it.
        is_rare = not same_name and is_rare_enough(domain, best)
        if is_rare or is_recognizable(domain, best):
            return best.domain
    # yahoo.fm may be yahoo.fr or yahoo.com.
    is_ambiguous = len(matches) < len(found)
    if is_ambiguous or (best is None and has_own_name):
        return None
    if same_name:
        return _choose_same_name(domain, same_name, data)
    return None if found else complete_ending(domain) or find_distant_famous_domain(domain, data)


def _is_in_other_country(domain: str, match: Match, data: DomainData) -> bool:
    """Return whether the ending exists, so it's hardly a typo if the name has several domains."""
    if match.name != name_of(domain) or len(data.typo_index.find_by_name(match.name)) == 1:
        return False
    if match.has_same_tld(domain) or not data.has_top_level_domain(domain):
        return False
    is_suffix = data.registrable_domain(domain) == domain
    return match.typo is Typo.OTHER or (match.typo is Typo.ADJACENT_KEY and is_suffix)


def _has_broken_ending(domain: str, match: Match, matches: list[Match], data: DomainData) -> bool:
    """Return whether the ending doesn't exist, and only one country is meant: not yahoo.qt."""
    name, _, ending = domain.partition(".")
    if match.name != name or data.is_public_suffix(ending):
        return False
    is_only = all(other.name != name for other in matches if other != match)
    return is_only or match.typo is not Typo.OTHER


def _correct_working(domain: str, data: DomainData) -> str:
    squatted = find_squatted_domain(domain, data, provider=None, is_idle=False)
    return squatted or domain


def _find_in_country(domain: str, data: DomainData) -> str | None:
    """Return yahoo.co.jp for yahoo.jp, and yahoo.fr for yahoo.co.fr."""
    name, _, ending = domain.partition(".")
    second_level, _, country = ending.rpartition(".")
    # yahoo.co is yahoo.com without its last letter.
    if second_level not in ("", "co", "com") or ending == "co":
        return None
    # uol.br is uol.com.br, but mail.co.ru hardly mail.ru.
    if not is_distinctive(name) and (second_level or len(name) < _MIN_NAME_IN_COUNTRY):
        return None
    domains = data.typo_index.find_by_name(name)
    return next((target for target in domains if target.endswith(f".{country}")), None)


def _choose_same_name(domain: str, domains: list[str], data: DomainData) -> str | None:
    name, _, ending = domain.partition(".")
    if name in FAMOUS_NAMES:
        return domains[0]
    if not data.has_top_level_domain(domain):
        # orange.xx may be another country's provider.
        return domains[0] if is_long(name) and data.is_only_well_known(domains[0]) else None
    # As in hanmail.com.
    is_own = len(domains) == 1 and len(name) >= _MIN_NAME_OF_ITS_OWN and is_distinctive(name)
    return domains[0] if is_own and ending in CROWDED_ENDINGS else None


def find_distant_famous_domain(domain: str, data: DomainData, shortest: int = 6) -> str | None:
    """Return the domain that was meant, with two typos. They make another word of shorter names."""
    index = data.typo_index
    famous = (index.find_by_name(name)[0] for name in FAMOUS_NAMES)
    for target in (*famous, *index.find_similar(domain)):
        name = name_of(target)
        if (
            name in FAMOUS_NAMES
            and name != name_of(domain)
            and len(name) >= shortest
            and starts_alike(domain, target)
            and abs(len(domain) - len(target)) <= 2
            and edit_distance(domain, target) == 2
        ):
            return target
    return None
