"""Ids are a prefix and a ULID, so they sort by time. python-ulid is too slow for batches."""

import re
import secrets
import time
from datetime import UTC, datetime

from django.urls.converters import StringConverter

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_DIGITS = str.maketrans(_LETTERS, "0123456789abcdefghijklmnopqrstuv")
_TIME_LENGTH, _RANDOM_LENGTH = 10, 16
_ULID = f"[{_LETTERS}]{{{_TIME_LENGTH + _RANDOM_LENGTH}}}"
# Maps bytes to letters. 256 is a multiple of 32, so no letter is more likely.
_LETTER_OF_BYTE = (_LETTERS * (256 // len(_LETTERS))).encode()
# `rsp_` ids are for stored responses to list creation. Clients never see them.
RESULT_PREFIX, BATCH_PREFIX, RESPONSE_PREFIX = "val_", "bat_", "rsp_"
RESULT_ID_PATTERN = f"{RESULT_PREFIX}{_ULID}"
BATCH_ID = re.compile(rf"\A{BATCH_PREFIX}{_ULID}\Z")


class ResultId(StringConverter):
    """A path converter: a malformed id is a 404 without a database query."""

    regex = RESULT_ID_PATTERN


def is_result_id(text: str) -> bool:
    return re.fullmatch(RESULT_ID_PATTERN, text) is not None


def new_result_id() -> str:
    return new_ids(RESULT_PREFIX, 1)[0]


def new_batch_id() -> str:
    return new_ids(BATCH_PREFIX, 1)[0]


def first_id_at(moment: datetime, prefix: str) -> str:
    """Return the lowest possible id of this moment."""
    return f"{prefix}{_time_letters(int(moment.timestamp() * 1000))}{_LETTERS[0] * _RANDOM_LENGTH}"


def new_ids(prefix: str, number: int) -> list[str]:
    random = secrets.token_bytes(number * _RANDOM_LENGTH).translate(_LETTER_OF_BYTE).decode()
    start = f"{prefix}{_time_letters(time.time_ns() // 1_000_000)}"
    return [
        start + random[at : at + _RANDOM_LENGTH] for at in range(0, len(random), _RANDOM_LENGTH)
    ]


def _time_letters(milliseconds: int) -> str:
    shifts = range(5 * (_TIME_LENGTH - 1), -1, -5)
    return "".join([_LETTERS[milliseconds >> shift & 31] for shift in shifts])


def normalize_result_id(text: str) -> str:
    prefix, separator, letters = text.partition("_")
    return f"{prefix.lower()}{separator}{letters.upper()}"


def result_created_at(text: str) -> datetime | None:
    """Return the time in the id of a result or batch, or None if the text isn't one."""
    if not (is_result_id(text) or BATCH_ID.match(text)):
        return None
    letters = text.partition("_")[2][:_TIME_LENGTH]
    try:
        return datetime.fromtimestamp(int(letters.translate(_DIGITS), 32) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
