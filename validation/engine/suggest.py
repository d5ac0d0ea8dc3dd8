"""What somebody meant who mistyped a domain. A suggestion that is wrong costs more than none.

Pure, but for the lists that it is handed.
"""

from collections.abc import Callable
from functools import cache

from validation.engine.domain_data import DomainData
from validation.engine.typos import Slip, distance_between, first_letter_is_right, slip_between

# So much better known than any domain that differs in one slip that the slip is the likelier story,
# even where somebody registered the other one and takes its mail.
FAMOUS = ("gmail", "googlemail", "hotmail", "icloud", "outlook", "protonmail", "yahoo")
# Consumers of these have their mail at these hosts alone: a domain there is one of their own.
_OWN_HOSTS = {"microsoft_consumer", "yahoo", "apple"}
_TOP_LEVEL_NAMES = (
    *("com", "net", "org", "edu", "gov", "info", "biz", "de", "uk", "fr", "it", "es", "nl", "br"),
    *("ru", "pl", "ca", "au", "jp", "in", "ch", "at", "be", "se", "us", "mx", "cz", "dk", "no"),
)
_COUNTRY_SUFFIXES = (
    *("co.uk", "com.br", "com.au", "co.in", "co.jp", "co.za", "co.nz", "com.mx", "com.tr", "co.il"),
    *("com.ar", "com.tw", "com.cn", "com.hk", "com.sg", "org.uk", "ac.uk", "co.kr", "net.au"),
)
_SHORT = 5
_SHORT_BUT_CLEAR = ("aol", "comcast", "gmx", "msn", "verizon")


def meant_domain(
    domain: str, lists: DomainData, *, works: bool | None, provider: str | None = None
) -> str | None:
    """`works`: whether it takes mail, None where that is not known; then it may well do."""
    if lists.is_well_known(domain) or provider in _OWN_HOSTS:
        return None
    meant = _meant(domain, lists, works=works)
    return None if meant is None or lists.is_reserved(meant) else meant


def _meant(domain: str, lists: DomainData, *, works: bool | None) -> str | None:
    exists = works or lists.is_top_level_name(domain.rpartition(".")[2])
    if works is False or not exists:
        return _for_one_that_does_not_work(domain, lists)
    if domain in lists.not_typos:
        return None
    # Most domains are like none of them, which is told at a glance.
    first_two, length = domain[:2], len(domain)
    alike = tuple(
        target
        for target in _famous(lists.typo_targets)
        if target[0] in first_two and abs(len(target) - length) <= 1
    )
    return _nearest(domain, alike, _is_famous_slip)


def meant_label(label: str, lists: DomainData) -> str | None:
    """For a domain without an ending: `gmail`, `gmailcom`, `gmial`."""
    name = label.removesuffix("com") or label
    main = _main_domains(lists.typo_targets)
    for known in FAMOUS:
        slip = slip_between(name, known)
        if name == known or (slip is not None and slip < Slip.STRANGE):
            return main.get(known)
    return main.get(name) if name in _SHORT_BUT_CLEAR else None


def _for_one_that_does_not_work(domain: str, lists: DomainData) -> str | None:
    name, _, ending = domain.partition(".")
    # www.gmail.com, gmailcom.com
    for bare in (domain.removeprefix("www."), f"{name.removesuffix('com')}.{ending}"):
        if bare != domain and lists.is_well_known(bare):
            return bare
    return (
        _nearest(domain, lists.typo_targets, _is_likely_slip)
        or _with_right_ending(domain, lists)
        or _nearest(domain, lists.typo_targets, _is_any_slip)
        or _far_from_famous(domain, lists)
    )


def _nearest(
    domain: str, targets: tuple[str, ...], accepts: Callable[[str, str, Slip], bool]
) -> str | None:
    """The likeliest slip counts, then how well known the target is."""
    slips = ((slip_between(domain, target), place) for place, target in enumerate(targets))
    fitting = [
        (slip, place)
        for slip, place in slips
        if slip is not None and accepts(domain, targets[place], slip)
    ]
    return targets[min(fitting)[1]] if fitting else None


@cache
def _main_domains(targets: tuple[str, ...]) -> dict[str, str]:
    """The best known domain of each name."""
    return {target.partition(".")[0]: target for target in reversed(targets)}


@cache
def _famous(targets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(target for target in targets if target.partition(".")[0] in FAMOUS)


def _is_famous_slip(domain: str, target: str, slip: Slip) -> bool:
    name, _, ending = target.partition(".")
    if slip is Slip.STRANGE or not first_letter_is_right(domain, target):
        return False
    # Under the same name in another country there may be a company of that name.
    return domain.partition(".")[0] != name or ending == "com"


def _is_likely_slip(domain: str, target: str, slip: Slip) -> bool:
    return (
        slip is not Slip.STRANGE
        and len(domain.partition(".")[0]) > 2
        and (first_letter_is_right(domain, target) or len(target.partition(".")[0]) >= _SHORT)
    )


def _is_any_slip(domain: str, target: str, slip: Slip) -> bool:
    return len(target.partition(".")[0]) >= _SHORT and first_letter_is_right(domain, target)


def _with_right_ending(domain: str, lists: DomainData) -> str | None:
    """For an ending that does not exist."""
    name, _, top_level = domain.rpartition(".")
    if lists.is_top_level_name(top_level):
        return None
    if name in _main_domains(lists.typo_targets) and len(name) >= _SHORT:
        return (
            _nearest(domain, lists.typo_targets, _is_any_slip)
            or _main_domains(lists.typo_targets)[name]
        )
    second, _, second_level = name.rpartition(".")
    ending = None
    if second:
        near = _nearest(f"{second_level}.{top_level}", _COUNTRY_SUFFIXES, _is_certain_slip)
        ending = near and f"{second}.{near}"
    if ending is None:
        near = _nearest(top_level, _TOP_LEVEL_NAMES, _is_certain_slip)
        ending = near and f"{name}.{near}"
    if ending is None or lists.is_well_known(ending):
        return ending
    return _nearest(ending, _famous(lists.typo_targets), _is_famous_slip) or ending


def _is_certain_slip(typed: str, target: str, slip: Slip) -> bool:
    # Two letters with one missing, or one changed, may have been anything.
    return slip is not Slip.STRANGE and (len(typed) > 2 or slip is Slip.TRANSPOSED)


def _far_from_famous(domain: str, lists: DomainData) -> str | None:
    name = domain.partition(".")[0]
    for target in lists.typo_targets:
        known = target.partition(".")[0]
        if known not in FAMOUS or not first_letter_is_right(domain, target):
            continue
        if name == known or (
            len(known) > _SHORT
            and abs(len(domain) - len(target)) <= 2
            and distance_between(domain, target) == 2
        ):
            return target
    return None
