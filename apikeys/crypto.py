"""Secrets of API keys: `svc_live_`, 32 random characters, and a checksum of 6.

The checksum finds mistyped secrets without a query. The format lets scanners find leaked ones.
"""

import hmac
import re
import secrets
import string
from zlib import crc32

PREFIX = "svc_live_"
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM_LENGTH, CHECKSUM_LENGTH = 32, 6

_SECRET = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{RANDOM_LENGTH + CHECKSUM_LENGTH}}}")
_ALPHANUMERIC = re.compile(rf"[0-9A-Za-z]{{{RANDOM_LENGTH + CHECKSUM_LENGTH},}}")


def generate() -> str:
    body = PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return body + checksum(body)


def checksum(body: str) -> str:
    number, characters = crc32(body.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        characters = ALPHABET[digit] + characters
    return characters


def is_well_formed(secret: str) -> bool:
    if not _SECRET.fullmatch(secret):
        return False
    return secret.endswith(checksum(secret[:-CHECKSUM_LENGTH]))


def contains_secret(text: str) -> bool:
    """Find secrets without the prefix, too."""
    if PREFIX in text.lower():
        return True
    length = RANDOM_LENGTH + CHECKSUM_LENGTH
    return any(
        is_well_formed(PREFIX + word[start : start + length])
        for word in _ALPHANUMERIC.findall(text)
        for start in range(len(word) - length + 1)
    )


def digest(secret: str, pepper: str) -> str:
    return hmac.digest(pepper.encode(), secret.encode(), "sha256").hex()


def first_and_last_four(secret: str) -> tuple[str, str]:
    return secret[len(PREFIX) :][:4], secret[-4:]
