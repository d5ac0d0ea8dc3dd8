"""Where a request comes from. Pure: what the proxies say is believed only as far as configured."""

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

UNKNOWN = "0.0.0.0"  # noqa: S104 - says "no address", binds nothing


def client_address(meta: Mapping[str, Any], trusted_proxies: int) -> str:
    """The peer's address; behind N trusted proxies the one the outermost of them saw."""
    peer = _address(str(meta.get("REMOTE_ADDR", ""))) or UNKNOWN
    if not trusted_proxies:
        return peer
    hops = [hop.strip() for hop in str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",")]
    # Each proxy appends the address it saw: what stands further left is the client's own word.
    return _address(hops[-trusted_proxies:][0]) or peer


def rate_limit_network(address: str) -> str:
    """Whom an address stands for: itself; of IPv6 its /64, which one customer has alone."""
    if isinstance(ip_address(address), IPv6Address):
        return str(ip_network(f"{address}/64", strict=False))
    return address


def is_address(host: str) -> bool:
    """Whether a Host header names an IP address: browsers know no passkeys there."""
    return _address(host) is not None


# One proxy, or one server of a customer, sends many requests.
@lru_cache(maxsize=1024)
def _address(text: str) -> str | None:
    """Some proxies write a port as well: 203.0.113.9:1234 or [2001:db8::1]:1234."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
