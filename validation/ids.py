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
# The first letters contain the time, and two random bits.
_TIME_LETTERS = 10
_SPARE_BITS = _TIME_LETTERS * _BITS_PER_LETTER - _TIME_BITS
# Two letters at a time, because every metered call needs an id.
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
_PAIR_MASK = len(_PAIRS) - 1
_PAIR_SHIFTS = range((_TIME_LETTERS - 2) * _BITS_PER_LETTER, -1, -2 * _BITS_PER_LETTER)
# Each byte selects a letter. 256 is a multiple of their number, so none is more likely.
_LETTER_OF_BYTE = (_LETTERS * (256 // len(_LETTERS))).encode()
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


def is_result_id(text: str) -> bool:
    return re.fullmatch(RESULT_ID_PATTERN, text) is not None


def new_result_id() -> str:
    return _new_ids(RESULT_PREFIX, 1)[0]


def new_result_ids(number: int) -> list[str]:
    """Generate ids of one moment. A batch needs a hundred, so this draws all bits together."""
    return _new_ids(RESULT_PREFIX, number)


def new_batch_id() -> str:
    return _new_ids(BATCH_PREFIX, 1)[0]


def first_id_at(moment: datetime, prefix: str) -> str:
    """Return the id that sorts before all ids with the prefix of this moment and later."""
    milliseconds = int(moment.timestamp() * 1000)
    return f"{prefix}{_time_letters(milliseconds, 0)}".ljust(len(prefix) + _LENGTH, _LETTERS[0])


def _new_ids(prefix: str, number: int) -> list[str]:
    length = _LENGTH - _TIME_LETTERS
    random = secrets.token_bytes(1 + number * length)
    start = f"{prefix}{_time_letters(time.time_ns() // 1_000_000, random[0] % 2**_SPARE_BITS)}"
    letters = random[1:].translate(_LETTER_OF_BYTE).decode()
    return [f"{start}{letters[index : index + length]}" for index in range(0, len(letters), length)]


def _time_letters(milliseconds: int, spare_bits: int) -> str:
    bits = milliseconds << _SPARE_BITS | spare_bits
    return "".join([_PAIRS[bits >> shift & _PAIR_MASK] for shift in _PAIR_SHIFTS])


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
