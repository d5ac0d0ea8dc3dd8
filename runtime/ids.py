"""Public ids: what URLs and API answers call a thing. Random, so that nobody can count or guess."""

import secrets
import string

_ALPHABET = (string.ascii_letters + string.digits).encode()
_LENGTH = 20
# Each byte stands for a letter. Of those that are over, some letters would come more often.
_FAIR = 256 - 256 % len(_ALPHABET)
_LETTERS = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))
_UNFAIR = bytes(range(_FAIR, 256))


def random_id(prefix: str) -> str:
    """One for every request: so without choosing letter by letter."""
    letters = b""
    while len(letters) < _LENGTH:
        letters += secrets.token_bytes(2 * _LENGTH).translate(_LETTERS, _UNFAIR)
    return f"{prefix}_{letters[:_LENGTH].decode()}"


def request_id() -> str:
    return random_id("req")
