"""Suggest the domain that a mistyped one was meant to be. A wrong suggestion is worse than none.

Pure, except for the domain data that callers pass in.
"""

from collections.abc import Callable
from functools import cache

from validation.engine.domain_data import DomainData
from validation.engine.typos import Typo, classify_typo, edit_distance, starts_alike

# These are so much better known than any domain one typo away that a typo is more likely, even if
# the other domain is registered and accepts mail.
FAMOUS_PROVIDERS = ("gmail", "googlemail", "hotmail", "icloud", "outlook", "protonmail", "yahoo")
# Only these providers' own consumer domains use their mail hosts, so such a domain is no typo.
_PROVIDERS_WITH_OWN_HOSTS = {"microsoft_consumer", "yahoo", "apple"}
_COMMON_TLDS = (
    *("com", "net", "org", "edu", "gov", "info", "biz", "de", "uk", "fr", "it", "es", "nl", "br"),
    *("ru", "pl", "ca", "au", "jp", "in", "ch", "at", "be", "se", "us", "mx", "cz", "dk", "no"),
)
_COMMON_COUNTRY_SUFFIXES = (
    *("co.uk", "com.br", "com.au", "co.in", "co.jp", "co.za", "co.nz", "com.mx", "com.tr", "co.il"),
    *("com.ar", "com.tw", "com.cn", "com.hk", "com.sg", "org.uk", "ac.uk", "co.kr", "net.au"),
)
# Shorter names resemble too many others.
_MIN_DISTINCTIVE_LENGTH = 5
_DISTINCTIVE_SHORT_NAMES = ("aol", "comcast", "gmx", "msn", "verizon")


def suggest_domain(
    domain: str,
    domain_data: DomainData,
    *,
    accepts_mail: bool | None,
    provider: str | None = None,
) -> str | None:
    """Return the domain that was probably meant.

    `accepts_mail` is about the typed domain; None means unknown, and the domain is then treated as
    one that may accept mail.
    """
    if domain_data.is_well_known(domain) or provider in _PROVIDERS_WITH_OWN_HOSTS:
        return None
    suggestion = _find_suggestion(domain, domain_data, accepts_mail=accepts_mail)
    is_usable = suggestion is not None and not domain_data.is_reserved(suggestion)
    return suggestion if is_usable else None


def _find_suggestion(
    domain: str, domain_data: DomainData, *, accepts_mail: bool | None
) -> str | None:
    may_exist = accepts_mail or domain_data.is_top_level_domain(domain.rpartition(".")[2])
    if accepts_mail is False or not may_exist:
        return _correct_broken_domain(domain, domain_data)
    if domain in domain_data.not_typos:
        return None
    # A cheap filter first: most domains resemble none of the famous ones.
    first_two, length = domain[:2], len(domain)
    similar = tuple(
        target
        for target in _famous_targets(domain_data.typo_targets)
        if target[0] in first_two and abs(len(target) - length) <= 1
    )
    return _closest_target(domain, similar, _is_famous_typo)


def suggest_for_bare_name(name: str, domain_data: DomainData) -> str | None:
    """Return the domain for a name without an ending: `gmail`, `gmailcom`, `gmial`."""
    name = name.removesuffix("com") or name
    best_known = _best_known_by_name(domain_data.typo_targets)
    for famous in FAMOUS_PROVIDERS:
        typo = classify_typo(name, famous)
        if name == famous or (typo is not None and typo < Typo.OTHER):
            return best_known.get(famous)
    return best_known.get(name) if name in _DISTINCTIVE_SHORT_NAMES else None


def _correct_broken_domain(domain: str, domain_data: DomainData) -> str | None:
    """Correct a domain that accepts no mail or has an unknown ending."""
    name, _, ending = domain.partition(".")
    # www.gmail.com, gmailcom.com
    for stripped in (domain.removeprefix("www."), f"{name.removesuffix('com')}.{ending}"):
        if stripped != domain and domain_data.is_well_known(stripped):
            return stripped
    return (
        _closest_target(domain, domain_data.typo_targets, _is_likely_typo)
        or _correct_ending(domain, domain_data)
        or _closest_target(domain, domain_data.typo_targets, _is_possible_typo)
        or _find_distant_famous_target(domain, domain_data)
    )


def _closest_target(
    domain: str, targets: tuple[str, ...], accepts: Callable[[str, str, Typo], bool]
) -> str | None:
    """Return the target with the most likely typo; of several, the best known."""
    typos = ((classify_typo(domain, target), rank) for rank, target in enumerate(targets))
    accepted = [
        (typo, rank)
        for typo, rank in typos
        if typo is not None and accepts(domain, targets[rank], typo)
    ]
    return targets[min(accepted)[1]] if accepted else None


@cache
def _best_known_by_name(targets: tuple[str, ...]) -> dict[str, str]:
    """Map each name to its best known domain."""
    return {target.partition(".")[0]: target for target in reversed(targets)}


@cache
def _famous_targets(targets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(target for target in targets if target.partition(".")[0] in FAMOUS_PROVIDERS)


def _is_famous_typo(domain: str, target: str, typo: Typo) -> bool:
    name, _, ending = target.partition(".")
    if typo is Typo.OTHER or not starts_alike(domain, target):
        return False
    # The same name under another country's suffix may be an unrelated company.
    return domain.partition(".")[0] != name or ending == "com"


def _is_likely_typo(domain: str, target: str, typo: Typo) -> bool:
    return (
        typo is not Typo.OTHER
        and len(domain.partition(".")[0]) > 2
        and (
            starts_alike(domain, target) or len(target.partition(".")[0]) >= _MIN_DISTINCTIVE_LENGTH
        )
    )


def _is_possible_typo(domain: str, target: str, typo: Typo) -> bool:
    is_distinctive = len(target.partition(".")[0]) >= _MIN_DISTINCTIVE_LENGTH
    return is_distinctive and starts_alike(domain, target)


def _correct_ending(domain: str, domain_data: DomainData) -> str | None:
    """Correct a top-level domain that does not exist."""
    name, _, tld = domain.rpartition(".")
    if domain_data.is_top_level_domain(tld):
        return None
    targets = domain_data.typo_targets
    if name in _best_known_by_name(targets) and len(name) >= _MIN_DISTINCTIVE_LENGTH:
        return (
            _closest_target(domain, targets, _is_possible_typo)
            or _best_known_by_name(targets)[name]
        )
    owner_label, _, second_level = name.rpartition(".")
    corrected = None
    if owner_label:
        suffix = f"{second_level}.{tld}"
        nearest = _closest_target(suffix, _COMMON_COUNTRY_SUFFIXES, _is_certain_typo)
        corrected = nearest and f"{owner_label}.{nearest}"
    if corrected is None:
        nearest = _closest_target(tld, _COMMON_TLDS, _is_certain_typo)
        corrected = nearest and f"{name}.{nearest}"
    if corrected is None or domain_data.is_well_known(corrected):
        return corrected
    return _closest_target(corrected, _famous_targets(targets), _is_famous_typo) or corrected


def _is_certain_typo(typed: str, target: str, typo: Typo) -> bool:
    # Two letters with one omitted or changed could have been almost anything.
    return typo is not Typo.OTHER and (len(typed) > 2 or typo is Typo.TRANSPOSED)


def _find_distant_famous_target(domain: str, domain_data: DomainData) -> str | None:
    """Return a famous domain that has the same name, or is exactly two typos away."""
    name = domain.partition(".")[0]
    for target in domain_data.typo_targets:
        target_name = target.partition(".")[0]
        if target_name not in FAMOUS_PROVIDERS or not starts_alike(domain, target):
            continue
        if name == target_name or (
            len(target_name) > _MIN_DISTINCTIVE_LENGTH
            and abs(len(domain) - len(target)) <= 2
            and edit_distance(domain, target) == 2
        ):
            return target
    return None
