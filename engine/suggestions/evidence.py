from engine.suggestions.provider_names import FAMOUS_NAMES, is_distinctive, is_long, is_unmistakable
from engine.typo_index import Match, name_of
from engine.typos import Typo, starts_alike

_LARGE_RANKS = 200
# Nearly every short name is taken there, fewer below countries' endings.
CROWDED_ENDINGS = ("com", "net", "org")
_MIN_LETTERS_IN_COUNTRY = 4
_MIN_LETTERS_BELOW_SECOND_LEVEL = 3


def is_likely(domain: str, match: Match) -> bool:
    name, _, ending = match.domain.partition(".")
    is_alike = starts_alike(domain, match.domain) or is_long(name)
    is_clear = (
        _has_enough_letters(domain)
        # As qq.co for qq.com.
        or (ending == "com" and name_of(domain) == name)
        # As w.ppl for wp.pl.
        or has_same_letters(domain, match)
    )
    return match.typo is not Typo.OTHER and is_alike and is_clear


def is_recognizable(domain: str, match: Match) -> bool:
    if is_likely(domain, match):
        return True
    name = match.name
    if not _has_enough_letters(domain) or not (is_long(name) or match.rank < _LARGE_RANKS):
        return False
    is_known = name in FAMOUS_NAMES or is_unmistakable(name)
    return is_known or starts_alike(domain, match.domain)


def is_rare_enough(domain: str, match: Match) -> bool:
    name, _, ending = match.domain.partition(".")
    if not _has_enough_letters(domain):
        return False
    if "." in ending:
        return len(name) >= _MIN_LETTERS_BELOW_SECOND_LEVEL
    is_long_enough = len(name) >= _MIN_LETTERS_IN_COUNTRY and ending not in CROWDED_ENDINGS
    return is_long_enough or is_distinctive(name)


def has_same_letters(domain: str, match: Match) -> bool:
    """Return whether only a period is missing or misplaced: yahooco.uk."""
    return domain.replace(".", "") == match.domain.replace(".", "")


def _has_enough_letters(domain: str) -> bool:
    """Return whether it's recognizable with a typo: qz.com isn't."""
    return len(name_of(domain)) > 2 or len(domain) > 7
