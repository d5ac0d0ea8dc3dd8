from collections.abc import Iterable
from typing import NamedTuple

from engine.domain_data import read_data_file, with_parents

OTHER = "other"


class MailProvider(NamedTuple):
    code: str
    # It filters mail for another server.
    is_gateway: bool
    domains: tuple[str, ...]


_LISTED = [
    MailProvider(code, words[0] == "gateway", tuple(word for word in words if word != "gateway"))
    for code, *words in map(str.split, read_data_file("mail_providers").entries)
]
PROVIDERS = tuple(provider for provider in _LISTED if provider.code != OTHER)
_GATEWAYS = frozenset(provider.code for provider in PROVIDERS if provider.is_gateway)
_CODE_BY_DOMAIN = {domain: provider.code for provider in _LISTED for domain in provider.domains}


def identify_provider(hosts: Iterable[str]) -> str | None:
    """Return the provider of the first known host. Hosts are in lower case."""
    provider = None
    for host in hosts:
        # The longest first: customers' servers are below their network's domain.
        codes = (_CODE_BY_DOMAIN.get(domain) for domain in with_parents(host))
        provider = next(filter(None, codes), OTHER)
        if provider != OTHER:
            return provider
    return provider


def is_gateway(provider: str) -> bool:
    return provider in _GATEWAYS
