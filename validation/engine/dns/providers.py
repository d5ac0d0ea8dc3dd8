"""Identify the provider of a domain's mail by the names of its mail hosts. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from validation.engine.domain_data import read_data_file, with_parents

OTHER = "other"


class MailProvider(NamedTuple):
    code: str
    # Whether it filters mail in front of another server.
    is_gateway: bool
    # Its mail hosts have these names, or names below them.
    domains: tuple[str, ...]


def _read_providers() -> Iterable[MailProvider]:
    for line in read_data_file("mail_providers").entries:
        code, *words = line.split()
        is_gateway = words[0] == "gateway"
        yield MailProvider(code, is_gateway, tuple(words[is_gateway:]))


_LISTED = tuple(_read_providers())
PROVIDERS = tuple(provider for provider in _LISTED if provider.code != OTHER)
_GATEWAYS = frozenset(provider.code for provider in PROVIDERS if provider.is_gateway)
_CODE_BY_DOMAIN = {domain: provider.code for provider in _LISTED for domain in provider.domains}


def identify_provider(hosts: Iterable[str]) -> str | None:
    """Return the provider of the first recognized host, or None without hosts.

    The hosts are in lower case.
    """
    provider = None
    for host in hosts:
        # The longest domain first: Microsoft's consumer hosts are below its business hosts, and
        # customers' own servers are below their network provider's domain.
        codes = (_CODE_BY_DOMAIN.get(domain) for domain in with_parents(host))
        provider = next(filter(None, codes), OTHER)
        if provider != OTHER:
            return provider
    return provider


def is_gateway(provider: str) -> bool:
    """Whether a provider is a security gateway in front of the server that has the mailboxes."""
    return provider in _GATEWAYS
