"""Suggest the domain that a mistyped one was meant to be. A wrong suggestion is worse than none.

Pure, except for the domain data that callers pass in.
"""

from validation.engine.domain_data import DomainData
from validation.engine.endings import correct_unknown_ending, undouble_ending
from validation.engine.provider_names import FAMOUS_NAMES, is_distinctive, is_long
from validation.engine.squats import find_squatted_domain
from validation.engine.typo_evidence import is_likely, is_recognizable
from validation.engine.typo_index import choose_best
from validation.engine.typos import edit_distance, starts_alike

# Only these providers' own consumer domains use their mail hosts, so such a domain is no typo.
_PROVIDERS_WITH_OWN_HOSTS = {"microsoft_consumer", "yahoo", "apple"}
# In a shorter name, two typos make another word.
_MIN_DISTANT_LENGTH = 6


def suggest_domain(
    domain: str,
    domain_data: DomainData,
    *,
    accepts_mail: bool | None,
    provider: str | None = None,
    is_idle: bool = False,
) -> str | None:
    """Return the domain that was probably meant.

    The other arguments are about the typed domain. If `accepts_mail` is None, that is unknown, and
    the domain is treated as one that may accept mail. `is_idle` says that the domain accepts mail,
    but its records show that its owner doesn't use it for mail.
    """
    if domain_data.is_well_known(domain) or provider in _PROVIDERS_WITH_OWN_HOSTS:
        return None
    if accepts_mail is False or not domain_data.is_top_level_domain(domain.rpartition(".")[2]):
        suggestion = _correct_broken_domain(domain, domain_data)
    else:
        suggestion = find_squatted_domain(domain, domain_data, provider=provider, is_idle=is_idle)
    is_usable = suggestion is not None and not domain_data.is_reserved(suggestion)
    return suggestion if is_usable else None


def _correct_broken_domain(domain: str, data: DomainData) -> str | None:
    """Correct a domain that accepts no mail or has an unknown ending."""
    name, _, ending = domain.partition(".")
    # www.gmail.com, gmailcom.com
    for stripped in (domain.removeprefix("www."), f"{name.removesuffix('com')}.{ending}"):
        if stripped != domain and data.is_well_known(stripped):
            return stripped
    undoubled = undouble_ending(domain, data)
    if undoubled:
        return undoubled if data.is_well_known(undoubled) else _correct_working(undoubled, data)
    return _find_in_country(domain, data) or _correct_typo(domain, data)


def _correct_typo(domain: str, data: DomainData) -> str | None:
    matches = data.typo_index.find(domain)
    best = choose_best(matches)
    if best is not None and is_likely(domain, best):
        return best.domain
    has_own_name = any(_name(match.domain) == _name(domain) for match in matches)
    if not has_own_name and not data.is_top_level_domain(domain.rpartition(".")[2]):
        corrected = correct_unknown_ending(domain)
        if corrected:
            return corrected if data.is_well_known(corrected) else _correct_working(corrected, data)
    if matches:
        return best.domain if best is not None and is_recognizable(domain, best) else None
    return _find_same_name(domain, data) or _find_distant_famous_domain(domain, data)


def _correct_working(domain: str, data: DomainData) -> str:
    """Return a corrected domain, corrected once more if it's a typo even though it may work."""
    squatted = find_squatted_domain(domain, data, provider=None, is_idle=False)
    return squatted or domain


def _find_in_country(domain: str, data: DomainData) -> str | None:
    """Return yahoo.co.jp for yahoo.jp."""
    name, _, ending = domain.partition(".")
    # yahoo.co is yahoo.com without its last letter.
    if "." in ending or ending == "co" or not is_distinctive(name):
        return None
    domains = data.typo_index.find_by_name(name)
    return next((target for target in domains if target.endswith(f".{ending}")), None)


def _find_same_name(domain: str, data: DomainData) -> str | None:
    """Return the provider of the same name, whatever the ending."""
    name = _name(domain)
    domains = data.typo_index.find_by_name(name)
    has_no_owner = not data.is_top_level_domain(domain.rpartition(".")[2])
    is_certain = name in FAMOUS_NAMES or (is_long(name) and has_no_owner)
    return domains[0] if domains and is_certain else None


def _find_distant_famous_domain(domain: str, data: DomainData) -> str | None:
    """Return a famous domain that is exactly two typos away."""
    index = data.typo_index
    famous = (index.find_by_name(name)[0] for name in FAMOUS_NAMES)
    for target in (*famous, *index.find_similar(domain)):
        name = _name(target)
        if (
            name in FAMOUS_NAMES
            and len(name) >= _MIN_DISTANT_LENGTH
            and starts_alike(domain, target)
            and abs(len(domain) - len(target)) <= 2
            and edit_distance(domain, target) == 2
        ):
            return target
    return None


def _name(domain: str) -> str:
    return domain.partition(".")[0]
