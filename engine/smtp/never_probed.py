from engine.domain_data import read_data_file, with_parents

_ENTRIES = [line.split() for line in read_data_file("never_probed").entries]
_PROVIDERS = frozenset(name for kind, name in _ENTRIES if kind == "provider")
_DOMAINS = frozenset(name for kind, name in _ENTRIES if kind == "domain")


def hides_mailboxes(ascii_domain: str, provider: str | None) -> bool:
    """Return whether the provider's mail servers don't say which mailboxes exist."""
    return provider in _PROVIDERS or not _DOMAINS.isdisjoint(with_parents(ascii_domain))
