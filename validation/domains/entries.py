"""Turn the entries that customers write into domains in lower-case ASCII."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from apikeys.crypto import contains_secret
from runtime.http import fairness
from validation.engine.domain_data import BUILT_IN_DATA
from validation.engine.syntax.parsing import AddressParts, parse_address

# One fix often solves many, and refusing costs as much time as parsing.
MAX_PROBLEMS = 20
_MAX_SHOWN = 80
_SUFFIX = "is a public suffix with many owners. Enter a domain below it."


class InvalidEntry(Exception):
    """Says what is wrong, as the rest of a sentence that starts with the entry."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An entry that was refused."""

    # Counted from 0, in the texts that were parsed.
    index: int
    entry: str
    error: str

    def __str__(self) -> str:
        return f"{quote_entry(self.entry)} {self.error}"


@fairness.long_request()
def parse_entries(texts: Iterable[str]) -> tuple[list[str], list[Problem]]:
    """Return the domains in their order, each of them once, and the first invalid entries."""
    domains: dict[str, None] = {}
    problems = []
    for index, text in enumerate(texts):
        fairness.let_others_run()
        try:
            domains[parse_entry(text)] = None
        except InvalidEntry as error:
            problems.append(Problem(index, text, str(error)))
            if len(problems) == MAX_PROBLEMS:
                break
    return list(domains), problems


def parse_entry(text: str) -> str:
    """Return the domain. Spaces around it, a leading @ and a trailing period are dropped."""
    domain = text.strip().removeprefix("@").removesuffix(".")
    _refuse_other_things(domain)
    parts = parse_address(f"someone@{domain}")
    if not isinstance(parts, AddressParts):
        is_suffix = BUILT_IN_DATA.is_top_level_domain(domain.lower())
        raise InvalidEntry(_SUFFIX if is_suffix else "isn't a domain, such as shop.example.")
    if BUILT_IN_DATA.registrable_domain(parts.ascii_domain) is None:
        raise InvalidEntry(_SUFFIX)
    return parts.ascii_domain


def _refuse_other_things(text: str) -> None:
    """Say what to do with texts that contain a domain or look like one."""
    if text.startswith("*."):
        raise InvalidEntry("has a wildcard. Remove “*.”: a domain also covers its subdomains.")
    if "/" in text:
        raise InvalidEntry("is a URL. Enter only its domain.")
    if "@" in text:
        raise InvalidEntry("is an address. Enter only the part after the @.")
    if _is_ip_address(text):
        raise InvalidEntry("is an IP address. Enter a domain.")


def _is_ip_address(text: str) -> bool:
    try:
        ip_address(text.strip("[]").lower().removeprefix("ipv6:"))
    except ValueError:
        return False
    return True


def quote_entry(text: str) -> str:
    """Return the entry for an error message, shortened, and without an API key."""
    text = text.strip()
    if not text:
        return "An empty entry"
    if contains_secret(text[: 2 * _MAX_SHOWN]):
        return "An entry with an API key"
    return f"“{text[:_MAX_SHOWN]}…”" if len(text) > _MAX_SHOWN else f"“{text}”"
