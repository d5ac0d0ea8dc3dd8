"""Parse addresses by RFC 5321, 6531 and 5890, as email-validator implements them."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import idna
from email_validator import (
    SPECIAL_USE_DOMAIN_NAMES,
    EmailNotValidError,
    ValidatedEmail,
    validate_email,
)

from validation.engine.syntax.errors import MESSAGES, find_syntax_error

# The library reports these domains as syntax errors. They are valid, but accept no mail.
SPECIAL_USE_DOMAIN_NAMES.clear()
# RFC 5321, 4.5.3.1: 254 octets fit between the angle brackets, 64 of them before the @. Longer
# texts are refused before any Unicode processing, whose time depends on the length.
MAX_ADDRESS_LENGTH, MAX_LOCAL_PART_LENGTH = 254, 64
# Invisible, but part of words in some scripts. RFC 5892, appendix A, says where they are allowed.
_JOINERS = ("\u200c", "\u200d")
# As long as a joiner in UTF-8.
_LETTER = "\u0915"
_PLACEHOLDER_DOMAIN, _PLACEHOLDER_LOCAL_PART = "shop.com", "someone"
# RFC 5321, 4.1.2: a dot-string. Its validity does not depend on the domain, provided that the whole
# address is well below the maximum length.
_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_PLAIN_LOCAL_PART = re.compile(rf"(?=.{{1,{MAX_LOCAL_PART_LENGTH}}}\Z){_ATOM}(?:\.{_ATOM})*")
_MAX_FAST_PATH_LENGTH = 100
# RFC 1123, 2.1. Two hyphens can mark Punycode, or a label that RFC 5890 forbids.
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PLAIN_DOMAIN = re.compile(rf"(?!.*--){_LABEL}(?:\.{_LABEL})*")


@dataclass(frozen=True)
class SyntaxProblem:
    code: str

    @property
    def message(self) -> str:
        return MESSAGES[self.code]


# A tuple is created faster than a frozen dataclass.
class AddressParts(NamedTuple):
    normalized: str
    local_part: str
    # In Unicode.
    domain: str
    # As in the DNS.
    ascii_domain: str


def parse_address(email: str) -> AddressParts | SyntaxProblem:
    if len(email) > MAX_ADDRESS_LENGTH:
        return SyntaxProblem("too_long")
    domains = _parse_domains(email)
    # Not the library's local part, which is lower-cased for some mailboxes.
    local_part, at_sign, typed_domain = email.rpartition("@")
    if domains is None:
        if _has_valid_joiners(local_part):
            email = f"{_replace_joiners(local_part)}{at_sign}{typed_domain}"
        return SyntaxProblem(find_syntax_error(email))
    domain, ascii_domain = domains
    if not local_part.isascii():
        local_part = unicodedata.normalize("NFC", local_part)
        if len(local_part.encode()) > MAX_LOCAL_PART_LENGTH:
            return SyntaxProblem("local_part_too_long")
    code = _find_top_level_error(ascii_domain)
    if code is not None:
        return SyntaxProblem(code)
    return AddressParts(f"{local_part}@{domain}", local_part, domain, ascii_domain)


def _parse_domains(email: str) -> tuple[str, str] | None:
    """Return the domain in Unicode and in ASCII, or None if the address is invalid."""
    local_part, _, domain = email.rpartition("@")
    if len(email) <= _MAX_FAST_PATH_LENGTH and _PLAIN_LOCAL_PART.fullmatch(local_part):
        return _parse_domain_cached(domain)
    if any(joiner in local_part for joiner in _JOINERS):
        return _parse_joined_local_part(local_part, domain)
    return _parse_with_library(email)


def _parse_joined_local_part(local_part: str, domain: str) -> tuple[str, str] | None:
    """Parse addresses with joiners before the @, as Persian and Indic words have them.

    The library refuses all invisible characters. The rule for domains says where joiners are part
    of a word; there, the text is valid if it is valid with a letter instead.
    """
    if not _has_valid_joiners(local_part):
        return None
    return _parse_with_library(f"{_replace_joiners(local_part)}@{domain}")


def _has_valid_joiners(local_part: str) -> bool:
    """Whether all joiners are where RFC 5892, appendices A.1 and A.2, allows them."""
    text = unicodedata.normalize("NFC", local_part)
    positions = [index for index, character in enumerate(text) if character in _JOINERS]
    try:
        return all(idna.valid_contextj(text, position) for position in positions)
    except ValueError:
        # An unassigned character.
        return False


def _replace_joiners(text: str) -> str:
    return "".join(_LETTER if character in _JOINERS else character for character in text)


@lru_cache(maxsize=4096)
def _parse_domain_cached(domain: str) -> tuple[str, str] | None:
    """Parse a domain after any plain local part. The cache pays off because domains repeat."""
    if domain.isascii() and _PLAIN_DOMAIN.fullmatch(plain := domain.lower()):
        # What the library returns, in a hundredth of its time: lists have 100,000 domains.
        return plain, plain
    return _parse_with_library(f"{_PLACEHOLDER_LOCAL_PART}@{domain}")


def _parse_with_library(email: str) -> tuple[str, str] | None:
    try:
        address = _validate(email)
    except EmailNotValidError:
        return _parse_with_joiners(email)
    return address.domain, address.ascii_domain


def _parse_with_joiners(email: str) -> tuple[str, str] | None:
    """Parse domains with valid joiners. The library refuses all invisible characters."""
    local_part, _, domain = email.rpartition("@")
    if "xn--" not in domain.lower() and not any(joiner in domain for joiner in _JOINERS):
        return None
    if any(unicodedata.category(char) == "Cf" and char not in _JOINERS for char in domain):
        return None
    try:
        ascii_domain = idna.encode(domain, uts46=True).decode()
        unicode_domain = idna.decode(ascii_domain)
        _validate(f"{local_part}@{_PLACEHOLDER_DOMAIN}")
    except (idna.IDNAError, EmailNotValidError):
        return None
    if not any(joiner in unicode_domain for joiner in _JOINERS) or domain.endswith("."):
        return None
    is_short = len(local_part.encode()) + len(ascii_domain) < MAX_ADDRESS_LENGTH
    return (unicode_domain, ascii_domain) if is_short else None


def _validate(email: str) -> ValidatedEmail:
    return validate_email(
        email, check_deliverability=False, globally_deliverable=False, strict=True
    )


def _find_top_level_error(ascii_domain: str) -> str | None:
    """Check what the library checks only together with deliverability, which is not used."""
    _, period, top_level = ascii_domain.rpartition(".")
    if not period:
        return "no_top_level_name"
    if top_level.isdigit():
        is_address = ascii_domain.count(".") == 3 and ascii_domain.replace(".", "").isdigit()
        return "ip_address" if is_address else "numeric_top_level_name"
    return None


def to_unicode(ascii_domain: str) -> str:
    """Decode a domain for display."""
    return idna.decode(ascii_domain) if "xn--" in ascii_domain else ascii_domain
