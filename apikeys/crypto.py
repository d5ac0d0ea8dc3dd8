"""The secret of a key: made, checked for typing errors, and turned into what may be stored. Pure.

`svc_live_`, 32 random characters, and 6 of a checksum over all before them: a key that was cut or
mistyped is recognised without asking the database, and one that was leaked by its form.
"""

import hmac
import re
import secrets
import string
from zlib import crc32

PREFIX = "svc_live_"
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM_LENGTH, CHECKSUM_LENGTH = 32, 6

_FORM = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{RANDOM_LENGTH + CHECKSUM_LENGTH}}}")
_RUN = re.compile(rf"[0-9A-Za-z]{{{RANDOM_LENGTH + CHECKSUM_LENGTH},}}")


def generate() -> str:
    body = PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return body + checksum(body)


def checksum(body: str) -> str:
    number, characters = crc32(body.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        number, rest = divmod(number, len(ALPHABET))
        characters = ALPHABET[rest] + characters
    return characters


def is_well_formed(secret: str) -> bool:
    if not _FORM.fullmatch(secret):
        return False
    return secret.endswith(checksum(secret[:-CHECKSUM_LENGTH]))


def holds_a_secret(text: str) -> bool:
    """Whether a whole key is in it, or the part after the prefix alone: told by the checksum."""
    if PREFIX in text.lower():
        return True
    length = RANDOM_LENGTH + CHECKSUM_LENGTH
    return any(
        is_well_formed(PREFIX + run[start : start + length])
        for run in _RUN.findall(text)
        for start in range(len(run) - length + 1)
    )


def digest(secret: str, pepper: str) -> str:
    return hmac.digest(pepper.encode(), secret.encode(), "sha256").hex()


def ends(secret: str) -> tuple[str, str]:
    """The first and the last four characters, by which people tell keys apart."""
    return secret[len(PREFIX) :][:4], secret[-4:]
