"""Ids of results and batches: a timestamp and random bits in Crockford's base 32.

So they sort by time, and their rows are found by it.
"""

import re
import secrets
import time
from datetime import UTC, datetime

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TIME_BITS, _RANDOM_BITS, _BITS_PER_LETTER = 48, 82, 5
_LENGTH = (_TIME_BITS + _RANDOM_BITS) // _BITS_PER_LETTER
# Two letters at a time, because a batch needs a hundred ids.
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_PAIR_MASK = len(_PAIRS) - 1
_PAIR_SHIFTS = range((_LENGTH - 2) * _BITS_PER_LETTER, -1, -2 * _BITS_PER_LETTER)
RESULT_PREFIX, BATCH_PREFIX = "val_", "bat_"
RESULT_ID_PATTERN = f"{RESULT_PREFIX}[{_LETTERS}]{{{_LENGTH}}}"
_PATTERN = re.compile(f"(?:{RESULT_PREFIX}|{BATCH_PREFIX})[{_LETTERS}]{{{_LENGTH}}}")
BATCH_ID = re.compile(rf"\A{BATCH_PREFIX}[{_LETTERS}]{{{_LENGTH}}}\Z")


class ResultId:
    """A path converter: a malformed id is a 404 without a database query."""

    regex = RESULT_ID_PATTERN

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


def new_result_id() -> str:
    return f"{RESULT_PREFIX}{_new_letters()}"


def new_batch_id() -> str:
    return f"{BATCH_PREFIX}{_new_letters()}"


def first_id_at(moment: datetime, prefix: str) -> str:
    """Return the id that sorts before all ids with the prefix of this moment and later."""
    return f"{prefix}{_letters(int(moment.timestamp() * 1000) << _RANDOM_BITS)}"


def _new_letters() -> str:
    return _letters((time.time_ns() // 1_000_000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS))


def _letters(number: int) -> str:
    return "".join([_PAIRS[number >> shift & _PAIR_MASK] for shift in _PAIR_SHIFTS])


def normalize_result_id(text: str) -> str:
    """Restore the canonical case of the id of a result or batch that a user typed."""
    prefix, separator, letters = text.partition("_")
    return f"{prefix.lower()}{separator}{letters.upper()}"


def result_created_at(text: str) -> datetime | None:
    """Return the time in an id, or None if the text isn't one."""
    if not _PATTERN.fullmatch(text):
        return None
    number = 0
    for letter in text[len(RESULT_PREFIX) :]:
        number = number * len(_LETTERS) + _LETTERS.index(letter)
    try:
        return datetime.fromtimestamp((number >> _RANDOM_BITS) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
