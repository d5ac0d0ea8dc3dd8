"""Turn the entries that customers write into domains in lower-case ASCII."""

from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address

from apikeys.crypto import contains_secret
from engine import DOMAIN_DATA, AddressParts, parse_address

# One fix often solves many.
MAX_PROBLEMS = 20
_MAX_SHOWN = 80
_SUFFIX = "is a public suffix with many owners. Enter a domain below it."


class InvalidEntry(Exception):
    """Raised for a wrong entry. The message ends a sentence that starts with the entry."""


def parse_entries(texts: Iterable[str]) -> tuple[list[str], dict[int, str]]:
    """Return the domains, and a sentence about each wrong entry, by its index."""
    domains: dict[str, None] = {}
    problems: dict[int, str] = {}
    for index, text in enumerate(texts):
        try:
            domains[parse_entry(text)] = None
        except InvalidEntry as error:
            problems[index] = f"{quote_entry(text)} {error}"
            if len(problems) == MAX_PROBLEMS:
                break
    return list(domains), problems


def parse_entry(text: str) -> str:
    """Return the domain, without spaces around it, a leading @ and a trailing period."""
    domain = text.strip().removeprefix("@").removesuffix(".")
    if domain.startswith("*."):
        raise InvalidEntry("has a wildcard. Remove “*.”: a domain also covers its subdomains.")
    if "/" in domain:
        raise InvalidEntry("is a URL. Enter only its domain.")
    if "@" in domain:
        raise InvalidEntry("is an address. Enter only the part after the @.")
    with suppress(ValueError):
        ip_address(domain.strip("[]").lower().removeprefix("ipv6:"))
        raise InvalidEntry("is an IP address. Enter a domain.")
    parts = parse_address(f"someone@{domain}")
    if not isinstance(parts, AddressParts):
        is_suffix = "." not in domain and DOMAIN_DATA.has_top_level_domain(domain.lower())
        raise InvalidEntry(_SUFFIX if is_suffix else "isn't a domain, such as shop.example.")
    if DOMAIN_DATA.registrable_domain(parts.ascii_domain) is None:
        raise InvalidEntry(_SUFFIX)
    return parts.ascii_domain


def quote_entry(text: str) -> str:
    """Shorten the entry for an error message, and leave out an API key."""
    text = text.strip()
    if not text:
        return "An empty entry"
    if contains_secret(text[: 2 * _MAX_SHOWN]):
        return "An entry with an API key"
    return f"“{text[:_MAX_SHOWN]}…”" if len(text) > _MAX_SHOWN else f"“{text}”"
