"""Public ids are random, so they can't be counted or guessed."""

import secrets
import string

_ALPHABET = (string.ascii_letters + string.digits).encode()
_LENGTH = 20
# Higher bytes would make some letters more likely.
_BIAS_START = 256 - 256 % len(_ALPHABET)
_LETTERS = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))
_BIASED_BYTES = bytes(range(_BIAS_START, 256))


def random_id(prefix: str) -> str:
    letters = b""
    while len(letters) < _LENGTH:
        letters += secrets.token_bytes(2 * _LENGTH).translate(_LETTERS, _BIASED_BYTES)
    return f"{prefix}_{letters[:_LENGTH].decode()}"


def request_id() -> str:
    return random_id("req")
