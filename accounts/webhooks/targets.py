"""Decide which URLs may be called, so that none leads inside."""

import re
import secrets
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

import idna
from django.conf import settings
from django.http.request import validate_host

from accounts.engine import get_engine
from engine import is_public
from runtime.http.client_ip import is_address

MAX_URL_LENGTH = 2000
PORTS = (443, 8443)
# RFC 6761, 6762, 7686, 8375, 9476, and ICANN's name for private use. Names below `example`, which
# the docs use, don't resolve.
RESERVED_ZONES = ("alt", "arpa", "internal", "invalid", "local", "localhost", "onion", "test")
# urlsplit ignores some of them, and browsers read a backslash as a slash.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
# Resolvers and HTTP clients read a name as an IPv4 address if its last part is a number.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


class RefusedTarget(Exception):
    """Raised with what customers read after "The URL"."""


class TargetUnresolved(Exception):
    """Raised if the DNS gave no address, for now."""


class TargetUnknown(TargetUnresolved):
    """Raised if the DNS replied that the name has no address."""


@dataclass(frozen=True)
class Target:
    is_https: bool
    # In ASCII, for SNI, certificates and the Host header.
    host: str
    port: int
    # With the query.
    path: str
    # Where to connect: an IP address that was checked.
    address: str

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.is_https else 80) else f"{host}:{self.port}"


def resolve(url: str) -> Target:
    """Return the address to connect to, and to no other: the name may change its address."""
    parts, host, port = _parse(url)
    if is_address(host):
        addresses = frozenset({host})
    elif host == "localhost":
        addresses = frozenset({"127.0.0.1"})
    elif not (addresses := _find_addresses(host)):
        raise TargetUnknown
    if not settings.WEBHOOK_ALLOW_PRIVATE:
        if not all(map(is_public, addresses)):
            raise RefusedTarget("must not lead to an address that isn't public")
        if addresses & _own_addresses():
            raise RefusedTarget("must not lead to this service")
    ipv4 = sorted(address for address in addresses if ":" not in address)
    return Target(
        is_https=parts.scheme == "https",
        host=host,
        port=port,
        path=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
        address=secrets.choice(ipv4 or sorted(addresses)),
    )


def _parse(url: str) -> tuple[SplitResult, str, int]:
    if len(url) > MAX_URL_LENGTH:
        raise RefusedTarget(f"must not be longer than {MAX_URL_LENGTH:,} characters")
    if _FORBIDDEN.search(url):
        raise RefusedTarget("must not contain spaces, backslashes or control characters")
    is_local = settings.WEBHOOK_ALLOW_PRIVATE
    try:
        parts = urlsplit(url)
        name, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise RefusedTarget("is malformed") from error
    if parts.scheme != "https" and not (is_local and parts.scheme == "http"):
        raise RefusedTarget("must start with https://")
    if "@" in parts.netloc:
        raise RefusedTarget("must not contain a user name or a password")
    if "#" in url:
        raise RefusedTarget("must not contain a fragment (#)")
    if not (parts.path + parts.query).isascii():
        raise RefusedTarget("must percent-encode characters outside ASCII in its path")
    if "[" in parts.netloc and not is_local:
        raise RefusedTarget("must name a host, not an IP address")
    port = port if port is not None else 443 if parts.scheme == "https" else 80
    if not port or not (is_local or port in PORTS):
        raise RefusedTarget("must use port 443 or 8443")
    if is_local and (is_address(name) or name == "localhost"):
        return parts, name, port
    return parts, _check_host(name), port


def _check_host(name: str) -> str:
    """Return the name in lower-case ASCII, without a trailing dot."""
    if not name:
        raise RefusedTarget("must name a host")
    try:
        # Full-width digits and dots are common ones from here on.
        host = idna.encode(name, uts46=True, std3_rules=True).decode().removesuffix(".").lower()
    except (idna.IDNAError, UnicodeError) as error:
        raise RefusedTarget("must name a valid host") from error
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        raise RefusedTarget("must name a host, not an IP address")
    if not settings.WEBHOOK_ALLOW_PRIVATE:
        if len(labels) == 1 or labels[-1] in RESERVED_ZONES:
            raise RefusedTarget("must name a host on the public internet")
        if validate_host(host, _own_hosts()):
            raise RefusedTarget("must not lead to this service")
    return host


def _own_hosts() -> list[str]:
    # In local work, `*` may allow all.
    return [host for host in (settings.BASE_HOST, *settings.ALLOWED_HOSTS) if host != "*"]


def _own_addresses() -> frozenset[str]:
    addresses: frozenset[str] = frozenset()
    for host in {host.removeprefix(".") for host in _own_hosts()}:
        if "." in host and not is_address(host):
            addresses |= _find_addresses(host)
    return addresses


def _find_addresses(host: str) -> frozenset[str]:
    addresses = get_engine().find_addresses(host)
    if addresses is None:
        raise TargetUnresolved
    return addresses
