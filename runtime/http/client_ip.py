from collections.abc import Mapping
from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

UNKNOWN = "0.0.0.0"  # noqa: S104 - means "no address", binds nothing
# Of the request in progress, for the audit log.
current_ip: ContextVar[str | None] = ContextVar("current_ip", default=None)


def client_address(meta: Mapping[str, Any], trusted_proxies: int) -> str:
    """Return the peer's address, or what the outermost of N trusted proxies saw."""
    peer = _parse(str(meta.get("REMOTE_ADDR", ""))) or UNKNOWN
    if not trusted_proxies:
        return peer
    hops = [hop.strip() for hop in str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",")]
    # The client can set the entries further left.
    return _parse(hops[-trusted_proxies:][0]) or peer


def rate_limit_network(address: str, prefix: int = 64) -> str:
    """Return an IPv4 address or an IPv6 /64, which usually belongs to one customer."""
    if isinstance(ip_address(address), IPv6Address):
        return str(ip_network(f"{address}/{prefix}", strict=False))
    return address


def is_address(host: str) -> bool:
    return _parse(host) is not None


@lru_cache(maxsize=1024)
def _parse(text: str) -> str | None:
    """Normalize an address, also 203.0.113.9:1234 or [2001:db8::1]:1234."""
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
