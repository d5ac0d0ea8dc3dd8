"""What of an address may be kept: enough to find it again, too little to read it back."""

import unicodedata
from collections.abc import Mapping

import idna
from django.conf import settings
from django.utils.crypto import salted_hmac


def masked(email: str, domain: str | None) -> str:
    """`j***@example.com`; of what is no address at all, only its first character."""
    first = email[:1] if email[:1].isprintable() else ""
    return f"{first}***@{domain}" if domain else f"{first}***"


def address_hash(email: str) -> str:
    """The same for every spelling of it: large or small, its domain in Unicode or as the DNS has
    it, with a dot behind, or quoted."""
    digest = salted_hmac(
        "validation.address", _plain(email), secret=settings.ADDRESS_HASH_KEY, algorithm="sha256"
    )
    return digest.hexdigest()[:32]


def _plain(email: str) -> str:
    text = unicodedata.normalize("NFC", email).strip().lower()
    local_part, at, domain = text.rpartition("@")
    if len(local_part) > 2 and local_part[0] == local_part[-1] == '"':
        local_part = local_part[1:-1]
    return f"{local_part}{at}{_in_unicode(domain.rstrip('.'))}"


def _in_unicode(domain: str) -> str:
    if domain.isascii() and "xn--" not in domain:
        return domain
    try:
        return idna.decode(domain, uts46=True)
    except idna.IDNAError:
        return domain


def pack_checks(checks: Mapping[str, bool | None], names: tuple[str, ...]) -> int:
    """Two bits a check, in the order of the names: 0 not run, 1 false, 2 true."""
    packed = 0
    for place, name in enumerate(names):
        value = checks.get(name)
        packed |= (0 if value is None else 1 + value) << (2 * place)
    return packed


def unpack_checks(packed: int, names: tuple[str, ...]) -> dict[str, bool | None]:
    values = (None, False, True)
    return {name: values[packed >> (2 * place) & 3] for place, name in enumerate(names)}
