"""Whether a text is an address at all: RFC 5321, 6531 and 5890, as email-validator reads them."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import idna
from email_validator import (
    SPECIAL_USE_DOMAIN_NAMES,
    EmailNotValidError,
    ValidatedEmail,
    validate_email,
)

from validation.engine.mistakes import SENTENCES, code_of_mistake

# The library would call these names wrong syntax. They are addresses, at names that take no mail.
SPECIAL_USE_DOMAIN_NAMES.clear()
# RFC 5321, 4.5.3.1: 254 octets fit between the angle brackets, 64 of them before the @. What has
# more characters than that is not looked at: how long Unicode takes depends on the length.
LONGEST, LONGEST_LOCAL_PART = 254, 64
# Invisible, and part of words in some scripts; RFC 5892, appendix A, says where they may stand.
_JOINERS = ("\u200c", "\u200d")
_ANY_DOMAIN, _ANY_LOCAL_PART = "shop.com", "someone"
# RFC 5321, 4.1.2: a dot-string. Nothing in it has to do with the domain that follows, as long as
# both are far from the longest.
_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_PLAIN_LOCAL_PART = re.compile(rf"(?=.{{1,{LONGEST_LOCAL_PART}}}\Z){_ATOM}(?:\.{_ATOM})*")
_SURELY_SHORT = 100


@dataclass(frozen=True)
class SyntaxProblem:
    code: str

    @property
    def message(self) -> str:
        return SENTENCES[self.code]


@dataclass(frozen=True, slots=True)
class Parts:
    """An address taken apart."""

    normalized: str
    local_part: str
    # In Unicode, and as the DNS has it.
    domain: str
    ascii_domain: str


def parse_address(email: str) -> Parts | SyntaxProblem:
    if len(email) > LONGEST:
        return SyntaxProblem("too_long")
    domains = _domains_of(email)
    if domains is None:
        return SyntaxProblem(code_of_mistake(email))
    domain, ascii_domain = domains
    # Not the library's own, which it makes small for some mailboxes.
    local_part = email.rpartition("@")[0]
    if not local_part.isascii():
        local_part = unicodedata.normalize("NFC", local_part)
        if len(local_part.encode()) > LONGEST_LOCAL_PART:
            return SyntaxProblem("local_part_too_long")
    code = _code_of_top_level(ascii_domain)
    if code is not None:
        return SyntaxProblem(code)
    return Parts(f"{local_part}@{domain}", local_part, domain, ascii_domain)


def _domains_of(email: str) -> tuple[str, str] | None:
    """In Unicode and in ASCII; None for what is no address."""
    local_part, _, domain = email.rpartition("@")
    if len(email) <= _SURELY_SHORT and _PLAIN_LOCAL_PART.fullmatch(local_part):
        return _domains_behind_any(domain)
    return _read(email)


@lru_cache(maxsize=4096)
def _domains_behind_any(domain: str) -> tuple[str, str] | None:
    """Behind a plain local part it does not matter which: the same domains come again and again."""
    return _read(f"{_ANY_LOCAL_PART}@{domain}")


def _read(email: str) -> tuple[str, str] | None:
    try:
        address = _validate(email)
    except EmailNotValidError:
        return _domains_with_joiners(email)
    return address.domain, address.ascii_domain


def _domains_with_joiners(email: str) -> tuple[str, str] | None:
    """The library refuses each invisible character, also those that a domain may have."""
    local_part, _, domain = email.rpartition("@")
    if "xn--" not in domain.lower() and not any(joiner in domain for joiner in _JOINERS):
        return None
    if any(unicodedata.category(one) == "Cf" and one not in _JOINERS for one in domain):
        return None
    try:
        ascii_domain = idna.encode(domain, uts46=True).decode()
        in_unicode = idna.decode(ascii_domain)
        _validate(f"{local_part}@{_ANY_DOMAIN}")
    except (idna.IDNAError, EmailNotValidError):
        return None
    if not any(joiner in in_unicode for joiner in _JOINERS) or domain.endswith("."):
        return None
    is_short = len(local_part.encode()) + len(ascii_domain) < LONGEST
    return (in_unicode, ascii_domain) if is_short else None


def _validate(email: str) -> ValidatedEmail:
    return validate_email(
        email, check_deliverability=False, globally_deliverable=False, strict=True
    )


def _code_of_top_level(ascii_domain: str) -> str | None:
    """What the library leaves to its check of deliverability, which is not asked."""
    _, period, top_level = ascii_domain.rpartition(".")
    if not period:
        return "no_top_level_name"
    if top_level.isdigit():
        is_address = ascii_domain.count(".") == 3 and ascii_domain.replace(".", "").isdigit()
        return "ip_address" if is_address else "numeric_top_level_name"
    return None


def in_unicode(ascii_domain: str) -> str:
    """For people."""
    return idna.decode(ascii_domain) if "xn--" in ascii_domain else ascii_domain
