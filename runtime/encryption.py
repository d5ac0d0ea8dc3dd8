"""Encrypt secrets that the application has to read back, such as authenticator app seeds.

They can't be read from a dump of the database or from a backup. The keys are derived from
SECRET_KEY and SECRET_KEY_FALLBACKS.
"""

import secrets
from base64 import b64decode, b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.utils.crypto import salted_hmac

_PREFIX = "sealed:"
_NONCE_BYTES = 12


class DecryptionFailed(Exception):
    """No current or previous SECRET_KEY decrypts the text, or the text was changed."""


def encrypt(text: str) -> str:
    """Encrypt under the current SECRET_KEY."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    ciphertext = _cipher(settings.SECRET_KEY).encrypt(nonce, text.encode(), None)
    return _PREFIX + b64encode(nonce + ciphertext).decode()


def decrypt(text: str) -> str:
    """Decrypt under any configured key. Text stored without encryption is returned as it is."""
    if not text.startswith(_PREFIX):
        return text
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        if (plaintext := _try_decrypt(text, key)) is not None:
            return plaintext
    raise DecryptionFailed


def is_encrypted(text: str) -> bool:
    """Return whether the text is encrypted under the current SECRET_KEY."""
    return text.startswith(_PREFIX) and _try_decrypt(text, settings.SECRET_KEY) is not None


def _try_decrypt(text: str, key: str) -> str | None:
    raw = b64decode(text.removeprefix(_PREFIX))
    try:
        return _cipher(key).decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], None).decode()
    except InvalidTag:
        return None


def _cipher(secret: str) -> AESGCM:
    return AESGCM(salted_hmac("accounts.sealing", "", secret, algorithm="sha256").digest())
