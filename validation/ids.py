"""Ids of results: the time, then chance, in Crockford's letters. Sorted, they are in time order."""

import secrets
import time

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TIME_BITS, _RANDOM_BITS, _BITS_A_LETTER = 48, 82, 5


def result_id() -> str:
    number = (time.time_ns() // 1_000_000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    letters = ""
    for _ in range((_TIME_BITS + _RANDOM_BITS) // _BITS_A_LETTER):
        number, letter = divmod(number, len(_LETTERS))
        letters = _LETTERS[letter] + letters
    return f"val_{letters}"
