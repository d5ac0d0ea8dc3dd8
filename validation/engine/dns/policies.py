"""What a domain's SPF (RFC 7208) and DMARC (RFC 7489) records ask for. Pure."""

import re
from collections.abc import Iterable

_SPF = re.compile(r"v=spf1( +.*)?", re.IGNORECASE | re.DOTALL)
_DMARC = re.compile(r"\s*[vV]\s*=\s*DMARC1\s*(;.*)?", re.DOTALL)
_NAME = re.compile(r"(?=.{1,250}$)([a-z0-9_-]{1,63}\.)+[a-z0-9-]{1,63}\.?")
_POLICIES = ("none", "quarantine", "reject")


def spf_of(texts: Iterable[str]) -> str:
    """`strict` refuses all that it does not name; `denies_all` names nothing."""
    terms = _spf_terms(texts)
    if terms is None:
        return "none"
    mechanisms = _mechanisms(terms)
    if "-all" not in mechanisms:
        return "soft"
    # What stands behind `all` is never looked at, and an `all` before it decides.
    before = mechanisms[: mechanisms.index("-all")]
    if any(term.lstrip("+?~") == "all" for term in before):
        return "soft"
    return "strict" if before else "denies_all"


def names_senders(texts: Iterable[str]) -> bool:
    return bool(_mechanisms(_spf_terms(texts) or []))


def spf_redirect(texts: Iterable[str]) -> str | None:
    """The domain whose record counts in place of this one."""
    terms = _spf_terms(texts) or ()
    if any(term.lstrip("+-?~") == "all" for term in terms):
        return None
    target = next((term.partition("=")[2] for term in terms if term.startswith("redirect=")), "")
    # A macro depends on who sends, and is no name.
    return target.rstrip(".") if _NAME.fullmatch(target) else None


def dmarc_of(texts: Iterable[str], *, for_subdomain: bool = False) -> str | None:
    """None where there is no record: then that of the organisation's domain counts."""
    records = [text for text in texts if _DMARC.fullmatch(text.strip())]
    if not records:
        return None
    # RFC 7489, 6.6.3: of several none counts, and nobody else is asked.
    if len(records) > 1:
        return "none"
    pairs = (tag.partition("=") for tag in records[0].split(";"))
    tags = {name.strip().lower(): value.strip().lower() for name, _, value in pairs}
    policy = tags.get("p", "none")
    if for_subdomain:
        policy = tags.get("sp", policy)
    return policy if policy in _POLICIES else "none"


def _mechanisms(terms: list[str]) -> list[str]:
    return [term for term in terms if "=" not in term.partition(":")[0]]


def _spf_terms(texts: Iterable[str]) -> list[str] | None:
    records = [text for text in texts if _SPF.fullmatch(text)]
    # RFC 7208, 4.5: several are an error, and decide nothing.
    return records[0].lower().split()[1:] if len(records) == 1 else None
