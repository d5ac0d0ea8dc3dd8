"""What somebody meant whose text is no address: `jane@gmail,com`, ` jane@gmail.com `, `jane@gmail`.

Pure, but for the lists that it is handed.
"""

import re
import unicodedata

from validation.engine.domain_data import DomainData
from validation.engine.suggest import meant_domain, meant_label
from validation.engine.syntax import LONGEST, Parts, in_unicode, parse_address

_IN_ANGLE_BRACKETS = re.compile(r"[^<>@]*<([^<>]+)>[\s,;.]*")
_COMMENT = re.compile(r"\([^()]*\)")
_AT_SIGNS = re.compile(r"\s*(?:\[at\]|\(at\)|[@\uff20\ufe6b]+)\s*", re.IGNORECASE)
_AT_IN_WORDS = re.compile(r"\s+at\s+", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"\\@\s]+)"(?=@)')
_AROUND = " \t\r\n\u00a0,;:.'\"<>\u2018\u2019\u201c\u201d"
_JOINERS = "\u200c\u200d"
_BESIDE_PERIOD = re.compile(r"[ \t\u00a0]*\.[ \t\u00a0]*")
# Keys near the period, which stand where one belongs.
_NOT_PERIODS = re.compile(r"[,;:/]")


def repaired(email: str, lists: DomainData) -> str | None:
    """A whole address, or None where nothing is certain."""
    if len(email) > LONGEST or any(unicodedata.category(one) == "Cc" for one in email.strip()):
        return None
    local_part, at_sign, domain = _without_wrapping(email).rpartition("@")
    if not at_sign or "@" in local_part:
        return None
    local_part = re.sub(r"\.{2,}", ".", local_part).strip(".")
    parts = parse_address(f"{local_part}@{_with_periods(domain, lists)}")
    if not isinstance(parts, Parts):
        return None
    meant = meant_domain(parts.ascii_domain, lists, works=None)
    ascii_domain = meant or parts.ascii_domain
    is_possible = lists.is_top_level_name(ascii_domain.rpartition(".")[2])
    suggestion = f"{parts.local_part}@{in_unicode(ascii_domain)}"
    if not is_possible or lists.is_reserved(ascii_domain) or suggestion == email:
        return None
    return suggestion if isinstance(parse_address(suggestion), Parts) else None


def _without_wrapping(email: str) -> str:
    # Invisible characters come along when an address is copied from a page.
    visible = (one for one in email if unicodedata.category(one) != "Cf" or one in _JOINERS)
    text = "".join(visible).strip()
    wrapped = _IN_ANGLE_BRACKETS.fullmatch(text)
    if wrapped:
        text = wrapped[1]
    text = text.strip(_AROUND) if not text.startswith('"') else text.rstrip(_AROUND)
    if text[:7].lower() == "mailto:":
        text = text[7:]
    text = _AT_SIGNS.sub("@", text)
    if "@" not in text:
        text = _AT_IN_WORDS.sub("@", text, count=1)
    return _QUOTED.sub(r"\1", _COMMENT.sub("", text))


def _with_periods(domain: str, lists: DomainData) -> str:
    domain = _BESIDE_PERIOD.sub(".", domain)
    if "." not in domain:
        domain = _NOT_PERIODS.sub(".", domain)
    # shop.co,uk
    elif (
        domain.count(",") == 1
        and domain.replace(",", ".").split(".", 1)[1] in lists.public_suffixes
    ):
        domain = domain.replace(",", ".")
    domain = re.sub(r"\.{2,}", ".", domain).strip(".-")
    if "." in domain:
        return domain
    return meant_label(domain.replace(" ", "").lower(), lists) or ""
