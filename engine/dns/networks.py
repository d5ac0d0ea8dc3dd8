"""Decide which addresses a public mail server can have.

`ip_address.is_global` accepts special-purpose addresses, IPv6 forms of IPv4 addresses, and clouds'
metadata servers.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
        *("192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        # Azure's metadata server.
        "168.63.129.16/32",
    )
)
# The only allocated block. Mapped, translated and local addresses lie outside.
_ALLOCATED_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        # Teredo, benchmarks, ORCHID; documentation; 6to4; AS112.
        *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48"),
        *("2000::/16", "2d00::/8", "2e00::/7", "3000::/4"),
    )
)


@lru_cache(maxsize=4096)
def is_public(text: str) -> bool:
    try:
        address: IPv4Address | IPv6Address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None or address not in _ALLOCATED_6:
        return False
    return not any(address in network for network in _NOT_PUBLIC_6)
