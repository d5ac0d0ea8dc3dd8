"""Secrets that the program must be able to read again, such as those of authenticator apps: whoever
gets hold of a dump of the database, or of a backup, cannot. Pure but for the settings' keys."""

import secrets
from base64 import b64decode, b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.utils.crypto import salted_hmac

_MARK = "sealed:"
_NONCE_BYTES = 12


class DecryptionFailed(Exception):
    """It was sealed under another SECRET_KEY, or is not what was sealed."""


def encrypt(text: str) -> str:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = _cipher(settings.SECRET_KEY).encrypt(nonce, text.encode(), None)
    return _MARK + b64encode(nonce + sealed).decode()


def decrypt(text: str) -> str:
    """What was stored before anything was sealed is given as it is."""
    if not text.startswith(_MARK):
        return text
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        if (opened := _open(text, key)) is not None:
            return opened
    raise DecryptionFailed


def is_encrypted(text: str) -> bool:
    """Under the key of today."""
    return text.startswith(_MARK) and _open(text, settings.SECRET_KEY) is not None


def _open(text: str, key: str) -> str | None:
    raw = b64decode(text.removeprefix(_MARK))
    try:
        return _cipher(key).decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], None).decode()
    except InvalidTag:
        return None


def _cipher(secret: str) -> AESGCM:
    return AESGCM(salted_hmac("accounts.sealing", "", secret, algorithm="sha256").digest())
