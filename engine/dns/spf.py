"""Interpret a domain's SPF record (RFC 7208)."""

import re
from collections.abc import Iterable

_SPF = re.compile(r"v=spf1( +.*)?", re.IGNORECASE | re.DOTALL)
# RFC 7208, 4.6.1 and 12: any modifier, but no other mechanism.
_TERM = re.compile(
    r"[a-z][\w.-]*=.*|[-+?~]?(all|(a|mx)([:/].+)?|ptr(:.+)?|(include|exists|ip4|ip6):.+)", re.ASCII
)
_NAME = re.compile(r"(?=.{1,250}$)([a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}\.?")


def classify_spf(texts: Iterable[str]) -> str:
    """Return none, soft, strict (rejects others) or denies_all (lists no sender)."""
    terms = _spf_terms(texts)
    if terms is None:
        return "none"
    mechanisms = _mechanisms(terms)
    if "-all" not in mechanisms:
        return "soft"
    # RFC 7208, 5.1: an earlier `all` wins.
    before = mechanisms[: mechanisms.index("-all")]
    if any(term.lstrip("+?~") == "all" for term in before):
        return "soft"
    return "strict" if before else "denies_all"


def lists_senders(texts: Iterable[str]) -> bool:
    return bool(_mechanisms(_spf_terms(texts) or []))


def find_spf_redirect(texts: Iterable[str]) -> str | None:
    terms = _spf_terms(texts) or ()
    if any(term.lstrip("+-?~") == "all" for term in terms):
        return None
    target = next((term.partition("=")[2] for term in terms if term.startswith("redirect=")), "")
    # A macro is not a name.
    return target.rstrip(".") if _NAME.fullmatch(target) else None


def _mechanisms(terms: list[str]) -> list[str]:
    return [term for term in terms if "=" not in term.partition(":")[0]]


def _spf_terms(texts: Iterable[str]) -> list[str] | None:
    records = [text for text in texts if _SPF.fullmatch(text)]
    # RFC 7208, 4.5: several records are an error.
    terms = records[0].lower().split()[1:] if len(records) == 1 else None
    # RFC 7208, 4.6: so is one wrong term, after -all, too.
    return terms if terms is not None and all(map(_TERM.fullmatch, terms)) else None
