"""Encrypt secrets that must be read again, with keys derived from SECRET_KEY."""

import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.utils.crypto import salted_hmac

_PREFIX = "sealed:"
_NONCE_BYTES = 12


class DecryptionFailed(Exception):
    """Raised if neither SECRET_KEY nor a fallback decrypts a value."""


def encrypt(text: str) -> str:
    return _PREFIX + b64encode(encrypt_bytes(text.encode())).decode()


def encrypt_bytes(plaintext: bytes) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + _cipher(settings.SECRET_KEY).encrypt(nonce, plaintext, None)


def decrypt_bytes(ciphertext: bytes) -> bytes:
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        if (plaintext := _try_decrypt(ciphertext, key)) is not None:
            return plaintext
    raise DecryptionFailed


def decrypt(text: str) -> str:
    """Return text unchanged if it was stored unencrypted."""
    if not text.startswith(_PREFIX):
        return text
    return decrypt_bytes(b64decode(text.removeprefix(_PREFIX))).decode()


def is_encrypted(text: str) -> bool:
    if not text.startswith(_PREFIX):
        return False
    return _try_decrypt(b64decode(text.removeprefix(_PREFIX)), settings.SECRET_KEY) is not None


def reencrypt(values: Mapping[str, str]) -> dict[str, str]:
    """Return those that weren't encrypted under the current SECRET_KEY, and now are.

    Return none if one can't be decrypted: its owner has to replace it.
    """
    outdated = {name: text for name, text in values.items() if text and not is_encrypted(text)}
    try:
        return {name: encrypt(decrypt(text)) for name, text in outdated.items()}
    except DecryptionFailed:
        return {}


def _try_decrypt(ciphertext: bytes, key: str) -> bytes | None:
    nonce, encrypted = ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:]
    try:
        return _cipher(key).decrypt(nonce, encrypted, None)
    except InvalidTag:
        return None


@lru_cache(maxsize=8)
def _cipher(secret: str) -> AESGCM:
    return AESGCM(salted_hmac("accounts.sealing", "", secret, algorithm="sha256").digest())
