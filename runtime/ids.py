"""Generate public ids for URLs and API responses: random, so they can't be counted or guessed."""

import secrets
import string

_ALPHABET = (string.ascii_letters + string.digits).encode()
_LENGTH = 20
# Each byte maps to a letter. Bytes beyond the last whole multiple of the alphabet are dropped:
# they would make some letters more likely.
_FAIR = 256 - 256 % len(_ALPHABET)
_LETTERS = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))
_UNFAIR = bytes(range(_FAIR, 256))


def random_id(prefix: str) -> str:
    """Generate an id. Every request needs one, so this avoids choosing letter by letter."""
    letters = b""
    while len(letters) < _LENGTH:
        letters += secrets.token_bytes(2 * _LENGTH).translate(_LETTERS, _UNFAIR)
    return f"{prefix}_{letters[:_LENGTH].decode()}"


def request_id() -> str:
    return random_id("req")
