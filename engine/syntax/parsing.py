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

from engine.syntax.errors import REPLACEMENT_CHARACTER, SYNTAX_MESSAGES, find_syntax_error

# Valid, but email-validator reports them as errors.
SPECIAL_USE_DOMAIN_NAMES.clear()
# RFC 5321, 4.5.3.1, less the angle brackets. Checked before any Unicode processing.
MAX_ADDRESS_LENGTH, MAX_LOCAL_PART_LENGTH = 254, 64
# Parts of words in some scripts (RFC 5892, appendix A).
_JOINERS = ("\u200c", "\u200d")
# As long as a joiner in UTF-8.
_LETTER = "\u0915"
_PLACEHOLDER_DOMAIN, _PLACEHOLDER_LOCAL_PART = "shop.com", "someone"
# RFC 5321, 4.1.2: a dot-string, valid in any short address.
_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_PLAIN_LOCAL_PART = re.compile(rf"(?=.{{1,{MAX_LOCAL_PART_LENGTH}}}\Z){_ATOM}(?:\.{_ATOM})*")
_MAX_FAST_PATH_LENGTH = 100
# RFC 1123, 2.1. Two hyphens may mark Punycode.
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_PLAIN_DOMAIN = re.compile(rf"(?!.*--){_LABEL}(?:\.{_LABEL})*")


@dataclass(frozen=True)
class SyntaxProblem:
    code: str

    @property
    def message(self) -> str:
        return SYNTAX_MESSAGES[self.code]


class AddressParts(NamedTuple):
    normalized: str
    local_part: str
    domain: str
    ascii_domain: str


def parse_address(email: str) -> AddressParts | SyntaxProblem:
    if len(email) > MAX_ADDRESS_LENGTH:
        return SyntaxProblem("too_long")
    domains = _parse_domains(email)
    # Not from the library, which lower-cases some mailboxes.
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
    # The library checks this only with deliverability.
    _, period, top_level = ascii_domain.rpartition(".")
    if not period:
        return SyntaxProblem("no_top_level_name")
    if top_level.isdigit():
        is_address = ascii_domain.count(".") == 3 and ascii_domain.replace(".", "").isdigit()
        return SyntaxProblem("ip_address" if is_address else "numeric_top_level_name")
    return AddressParts(f"{local_part}@{domain}", local_part, domain, ascii_domain)


def _parse_domains(email: str) -> tuple[str, str] | None:
    local_part, _, domain = email.rpartition("@")
    if len(email) <= _MAX_FAST_PATH_LENGTH and _PLAIN_LOCAL_PART.fullmatch(local_part):
        return _parse_domain_cached(domain)
    if REPLACEMENT_CHARACTER in local_part:
        return None
    if any(joiner in local_part for joiner in _JOINERS):
        # Persian and Indic words have joiners, which the library refuses. They are valid where RFC
        # 5892 allows them, if a letter would be.
        if not _has_valid_joiners(local_part):
            return None
        email = f"{_replace_joiners(local_part)}@{domain}"
    return _parse_with_library(email)


def _has_valid_joiners(local_part: str) -> bool:
    """Apply RFC 5892, appendices A.1 and A.2."""
    text = unicodedata.normalize("NFC", local_part)
    positions = [index for index, character in enumerate(text) if character in _JOINERS]
    try:
        return all(idna.valid_contextj(text, position) for position in positions)
    except ValueError:
        return False


def _replace_joiners(text: str) -> str:
    return "".join(_LETTER if character in _JOINERS else character for character in text)


@lru_cache(maxsize=4096)
def _parse_domain_cached(domain: str) -> tuple[str, str] | None:
    if domain.isascii() and _PLAIN_DOMAIN.fullmatch(plain := domain.lower()):
        return plain, plain
    return _parse_with_library(f"{_PLACEHOLDER_LOCAL_PART}@{domain}")


def _parse_with_library(email: str) -> tuple[str, str] | None:
    try:
        address = _validate(email)
    except EmailNotValidError:
        return _parse_with_joiners(email)
    return address.domain, address.ascii_domain


def _parse_with_joiners(email: str) -> tuple[str, str] | None:
    """Parse domains with valid joiners, which the library refuses."""
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


def to_unicode(ascii_domain: str) -> str:
    return idna.decode(ascii_domain) if "xn--" in ascii_domain else ascii_domain
