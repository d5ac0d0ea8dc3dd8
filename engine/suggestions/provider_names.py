"""Decide how easily a provider's name is mistaken for another company's."""

from engine.domain_data import read_data_file

FAMOUS_NAMES = ("gmail", "googlemail", "hotmail", "icloud", "outlook", "protonmail", "yahoo")
_MIN_LONG = 5
_MIN_UNMISTAKABLE_LENGTH = 7
# Common endings of names, and the minimum length before them.
_COMMON_PARTS = ("cloud", "internet", "link", "mail", "net", "online", "world")
_MIN_OWN_PART = 6
_WORDS = frozenset(read_data_file("provider_words").entries)


def is_long(name: str) -> bool:
    return len(name) >= _MIN_LONG


def is_distinctive(name: str) -> bool:
    return name in FAMOUS_NAMES or (is_long(name) and name not in _WORDS)


def is_unmistakable(name: str) -> bool:
    # gotmail.com isn't hotmail.com, nor is pcloud.com icloud.com.
    own_part = next(
        (name.removesuffix(part) for part in _COMMON_PARTS if name.endswith(part)), name
    )
    is_long = len(name) >= _MIN_UNMISTAKABLE_LENGTH and len(own_part) >= _MIN_OWN_PART
    return is_long and is_distinctive(name)
