"""Decide which names are never listed as disposable, whatever public lists say."""

import re
from collections.abc import Iterable

from engine.domain_data import DomainData, is_below, read_data_file
from engine.suggestions.suggest import suggest_domain

_WORDS = re.compile("mail|inbox|temp|trash|spam|fake|throw|minute")


def is_likely(name: str, data: DomainData) -> bool:
    """Return whether the name is about mail, or below another: few businesses have such names."""
    return bool(_WORDS.search(name)) or data.registrable_domain(name) != name


def load_protected(data: DomainData) -> frozenset[str]:
    """Return the domains that are never disposable, including all names below them."""
    files = ("never_disposable", "allowlisted", "free_providers")
    hand_written = (read_data_file(name).entries for name in files)
    return frozenset(data.typo_targets).union(data.relays, *hand_written)


def find_excluded(names: Iterable[str], data: DomainData) -> frozenset[str]:
    """Return the names that a list of disposable domains must not contain.

    Besides the protected domains these are:
    - domains with subdomains of many owners: public suffixes, and shared domains;
    - typos of famous providers, which get a suggestion (did_you_mean) instead.
    """
    protected = load_protected(data)
    shared = frozenset(read_data_file("shared_domains").entries)
    return frozenset(
        name
        for name in names
        if name in shared
        or is_below(name, protected)
        or data.registrable_domain(name) is None
        or suggest_domain(name, data, accepts_mail=True)
    )
