"""Mask and hash addresses, so that a known one can be found but none read back."""

import hashlib
import hmac
import unicodedata
from contextlib import suppress
from functools import lru_cache

import idna
from django.conf import settings


def mask_address(email: str, domain: str | None) -> str:
    """Return `j***@example.com`, or `j***` without a valid domain."""
    first = email[:1] if email[:1].isprintable() else ""
    return f"{first}***@{domain}" if domain else f"{first}***"


def address_hash(email: str) -> str:
    """Return a keyed hash that ignores case, Punycode, a trailing dot, and quotes."""
    text = unicodedata.normalize("NFC", email).strip().lower()
    local_part, at, domain = text.rpartition("@")
    if len(local_part) > 2 and local_part[0] == local_part[-1] == '"':
        local_part = local_part[1:-1]
    domain = domain.rstrip(".")
    if not domain.isascii() or "xn--" in domain:
        with suppress(idna.IDNAError):
            domain = idna.decode(domain, uts46=True)
    normalized = f"{local_part}{at}{domain}".encode("utf-8", "surrogatepass")
    return hmac.digest(_hash_key(settings.ADDRESS_HASH_KEY), normalized, "sha256").hex()[:32]


@lru_cache(maxsize=2)
def _hash_key(secret: str) -> bytes:
    """Derive the key once: lists hash millions of addresses."""
    return hashlib.sha256(b"validation.address" + secret.encode()).digest()
