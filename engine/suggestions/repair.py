"""Repair texts that are almost addresses: `jane@gmail,com`, `jane@gmail`."""

import re
import unicodedata

from engine.domain_data import DomainData
from engine.suggestions.bare_names import suggest_for_bare_name
from engine.suggestions.suggest import find_distant_famous_domain, suggest_domain
from engine.syntax.parsing import MAX_ADDRESS_LENGTH, AddressParts, parse_address, to_unicode

_IN_ANGLE_BRACKETS = re.compile(r"[^<>@]*<([^<>]+)>[\s,;.]*")
_COMMENT = re.compile(r"\([^()@]*\)")
_AT_SIGNS = re.compile(r"\s*(?:\[at\]|\(at\)|[@\uff20\ufe6b]+)\s*", re.IGNORECASE)
_AT_IN_WORDS = re.compile(r"\s+at\s+", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"\\@\s]+)"(?=@)')
_SURROUNDINGS = " \t\r\n\u00a0,;:.'\"<>\u2018\u2019\u201c\u201d"
# The part before the @ may begin with a slash.
_ENDS = f"{_SURROUNDINGS}/\\"
_LABEL = re.compile(r"\A(?:mailto|e-?mail)\s*:\s*", re.IGNORECASE)
_MAILTO_FIELDS = re.compile(r"\?(?:subject|body|b?cc)=.*", re.IGNORECASE)
_JOINERS = "\u200c\u200d"
_SPACED_PERIOD = re.compile(r"[ \t\u00a0]*\.[ \t\u00a0]*")
_MISTYPED_PERIODS = re.compile(r"[,;:/]")
# Without the DNS, two typos are certain only in googlemail and protonmail.
_LONG_NAME = 10


def repair_address(email: str, domain_data: DomainData) -> str | None:
    has_control = any(unicodedata.category(character) == "Cc" for character in email.strip())
    if len(email) > MAX_ADDRESS_LENGTH or has_control:
        return None
    local_part, at_sign, domain = _strip_wrapping(email).rpartition("@")
    if not at_sign or "@" in local_part:
        return None
    local_part = re.sub(r"\.{2,}", ".", local_part).strip(".")
    parts = parse_address(f"{local_part}@{_repair_periods(domain, domain_data)}")
    if not isinstance(parts, AddressParts):
        return None
    typed = parts.ascii_domain
    suggested = suggest_domain(typed, domain_data, accepts_mail=None)
    ascii_domain = suggested or find_distant_famous_domain(typed, domain_data, _LONG_NAME) or typed
    has_valid_ending = domain_data.has_top_level_domain(ascii_domain)
    suggestion = f"{parts.local_part}@{to_unicode(ascii_domain)}"
    if not has_valid_ending or domain_data.is_reserved(ascii_domain) or suggestion == email:
        return None
    return suggestion if isinstance(parse_address(suggestion), AddressParts) else None


def _strip_wrapping(email: str) -> str:
    # Copied addresses may have invisible characters.
    visible = (
        character
        for character in email
        if unicodedata.category(character) != "Cf" or character in _JOINERS
    )
    text = "".join(visible).strip()
    wrapped = _IN_ANGLE_BRACKETS.fullmatch(text)
    if wrapped:
        text = wrapped[1]
    text = _AT_SIGNS.sub("@", _MAILTO_FIELDS.sub("", text))
    if "@" not in text:
        text = _AT_IN_WORDS.sub("@", text, count=1)
    text = _QUOTED.sub(r"\1", _COMMENT.sub("", text))
    text = text.lstrip(_SURROUNDINGS).rstrip(_ENDS)
    return _LABEL.sub("", text)


def _repair_periods(domain: str, domain_data: DomainData) -> str:
    domain = _SPACED_PERIOD.sub(".", domain)
    if "." not in domain:
        domain = _MISTYPED_PERIODS.sub(".", domain)
    # As in shop.co,uk.
    elif (
        domain.count(",") == 1
        and domain.replace(",", ".").split(".", 1)[1] in domain_data.public_suffixes
    ):
        domain = domain.replace(",", ".")
    domain = re.sub(r"\.{2,}", ".", domain).strip(".-")
    if "." in domain:
        return domain
    name = domain.replace(" ", "").lower()
    # As in gmail-com, but t-online has a hyphen of its own.
    joined = name.replace("-", "").replace("_", "")
    bare_name = suggest_for_bare_name(name, domain_data)
    return bare_name or suggest_for_bare_name(joined, domain_data) or ""
