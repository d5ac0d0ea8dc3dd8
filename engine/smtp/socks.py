"""Connect through a SOCKS5 proxy (RFC 1928, RFC 1929).

PySocks, which urllib3 and requests use, has had no release since 2019 and bounds no reply's time.
"""

import ipaddress
import socket
import time
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

# Network unreachable, host unreachable, connection refused, TTL expired.
_TARGET_FAILURES = frozenset({3, 4, 5, 6})
_ADDRESS_SIZES = {1: 4, 4: 16}


class ProxyFailed(Exception):
    """The proxy is down, refuses us, or doesn't speak SOCKS5: nothing is known of the target."""


class SocksProxy:
    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Raise ValueError if the URL isn't socks5://user:password@host:port."""
        parts = urlsplit(url)
        self._user, self._password = (
            unquote(text or "").encode() for text in (parts.username, parts.password)
        )
        is_short = max(len(self._user), len(self._password)) <= 255
        if parts.scheme != "socks5" or not parts.hostname or not is_short:
            raise ValueError("A proxy's URL has the form socks5://user:password@host:port")
        self._address = (parts.hostname, parts.port or 1080)
        self._clock = clock

    def connect(self, address: str, port: int, seconds: float) -> socket.socket:
        """Pass the literal address on, so that the proxy can't resolve the name differently."""
        until = self._clock() + seconds
        try:
            sock = socket.create_connection(self._address, timeout=seconds)
        except OSError as error:
            raise ProxyFailed("The proxy can't be reached") from error
        try:
            try:
                self._sign_in(sock, until)
            except OSError as error:
                raise ProxyFailed("The proxy doesn't reply") from error
            self._request(sock, ipaddress.ip_address(address).packed, port, until)
        except BaseException:
            sock.close()
            raise
        return sock

    def _sign_in(self, sock: socket.socket, until: float) -> None:
        user, password = self._user, self._password
        method = 2 if user else 0
        sock.sendall(bytes((5, 1, method)))
        if self._read(sock, 2, until) != bytes((5, method)):
            raise ProxyFailed("The proxy wants another authentication")
        if user:
            sock.sendall(bytes((1, len(user), *user, len(password), *password)))
            if self._read(sock, 2, until)[1] != 0:
                raise ProxyFailed("The proxy refuses the user or password")

    def _request(self, sock: socket.socket, packed: bytes, port: int, until: float) -> None:
        kind = 1 if len(packed) == 4 else 4
        sock.sendall(bytes((5, 1, 0, kind, *packed, *port.to_bytes(2, "big"))))
        version, code, _, kind = self._read(sock, 4, until)
        if version == 5 and code in _TARGET_FAILURES:
            raise ConnectionRefusedError(f"The proxy can't connect: {code}")
        if version != 5 or code or kind not in {1, 3, 4}:
            raise ProxyFailed(f"The proxy refuses to connect: {code}")
        # Its own address, which must not be taken for the server's first bytes.
        size = _ADDRESS_SIZES.get(kind) or self._read(sock, 1, until)[0]
        self._read(sock, size + 2, until)

    def _read(self, sock: socket.socket, size: int, until: float) -> bytes:
        data = b""
        while len(data) < size:
            remaining = until - self._clock()
            if remaining <= 0:
                raise TimeoutError
            sock.settimeout(remaining)
            part = sock.recv(size - len(data))
            if not part:
                raise ConnectionResetError
            data += part
        return data
