"""Ids of results: the time, then chance, in Crockford's letters. Sorted, they are in time order."""

import re
import secrets
import time
from datetime import UTC, datetime

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TIME_BITS, _RANDOM_BITS, _BITS_A_LETTER = 48, 82, 5
_LENGTH = (_TIME_BITS + _RANDOM_BITS) // _BITS_A_LETTER
_FORM = re.compile(f"val_[{_LETTERS}]{{{_LENGTH}}}")


def result_id() -> str:
    number = (time.time_ns() // 1_000_000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    letters = ""
    for _ in range(_LENGTH):
        number, letter = divmod(number, len(_LETTERS))
        letters = _LETTERS[letter] + letters
    return f"val_{letters}"


def normal_id(text: str) -> str:
    """As we write it, in whatever case somebody typed it."""
    return text.upper().replace("VAL_", "val_", 1)


def made_at(text: str) -> datetime | None:
    """When the result of this id was made: by the time it is found without an index of its own."""
    if not _FORM.fullmatch(text):
        return None
    number = 0
    for letter in text.removeprefix("val_"):
        number = number * len(_LETTERS) + _LETTERS.index(letter)
    try:
        return datetime.fromtimestamp((number >> _RANDOM_BITS) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
