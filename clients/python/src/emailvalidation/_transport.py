"""Send requests over connections that stay open, within a deadline, with the standard library."""

from __future__ import annotations

import http.client
import os
import selectors
import shutil
import socket
import ssl
import threading
import weakref
from base64 import b64encode
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LookupTimeout
from contextlib import suppress
from typing import Any, Optional
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from emailvalidation._calls import Deadline, Request, Response
from emailvalidation.errors import ConnectionFailed

_MAX_IDLE = 20


class Transport:
    """Threads may share it. A connection serves one request at a time."""

    def __init__(self, base_url: str) -> None:
        self._url = urlsplit(base_url)
        self._context = ssl.create_default_context() if self._url.scheme == "https" else None
        if self._context:
            self._context.sslsocket_class = _EncryptedSocket
        # Threads may append and pop at the same time.
        self._idle: list[_Connection] = []
        # Connections of a client that was never closed end with it.
        weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        _close_all(self._idle)

    def send(self, request: Request) -> Response:
        connection = self._take() or _Connection(self._url, self._context)
        connection.use(request.deadline)
        try:
            path = self._url.path.rstrip("/") + request.path
            connection.request(request.method, path, request.body, request.headers)
            answer = connection.getresponse()
            if request.to is None or answer.status >= 400:
                body = answer.read()
            else:
                body = b""
                shutil.copyfileobj(answer, request.to)
                if answer.length:
                    raise http.client.IncompleteRead(b"", answer.length)
        # UnicodeError: a host name that can't be looked up.
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            connection.close()
            request.deadline.check()
            reason = str(error) or type(error).__name__
            raise ConnectionFailed(
                f"The connection to {self._url.netloc} failed: {reason}"
            ) from error
        except BaseException:
            connection.close()
            raise
        if answer.will_close or len(self._idle) >= _MAX_IDLE:
            connection.close()
        else:
            self._idle.append(connection)
        return Response(answer.status, answer.getheaders(), body)

    def _take(self) -> Optional[_Connection]:
        """Return an idle connection that the server hasn't closed."""
        with suppress(IndexError):
            while True:
                connection = self._idle.pop()
                # After a fork, the connections belong to the parent.
                if connection.pid == os.getpid() and not _has_data(connection.sock):
                    return connection
                connection.close()
        return None


class _Socket(socket.socket):
    """A socket whose every wait ends with the deadline of the current request."""

    deadline: Deadline

    def recv_into(self, *args: Any, **options: Any) -> int:
        self.settimeout(self.deadline.check())
        return super().recv_into(*args, **options)

    def send(self, *args: Any, **options: Any) -> int:
        self.settimeout(self.deadline.check())
        return super().send(*args, **options)

    def sendall(self, *args: Any, **options: Any) -> None:
        self.settimeout(self.deadline.check())
        super().sendall(*args, **options)


class _EncryptedSocket(_Socket, ssl.SSLSocket):
    pass


class _Connection(http.client.HTTPConnection):
    deadline: Deadline
    sock: Any

    def __init__(self, url: SplitResult, context: Optional[ssl.SSLContext]) -> None:
        self.pid = os.getpid()
        self.default_port = 443 if context else 80
        self._context = context
        self._name, port = url.hostname or "", url.port or self.default_port
        proxy = getproxies().get("https", "") if context else ""
        if not proxy or proxy_bypass(self._name):
            super().__init__(self._name, port)
        else:
            parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
            super().__init__(parts.hostname or "", parts.port or 8080)
            self.set_tunnel(self._name, port, _proxy_headers(parts))
        # http.client calls it before CONNECT to a proxy, which must keep the deadline, too.
        self._create_connection = self._open

    def use(self, deadline: Deadline) -> None:
        self.deadline = deadline
        if self.sock:
            self.sock.deadline = deadline

    def connect(self) -> None:
        self.timeout = self.deadline.check()
        super().connect()
        if self._context:
            self.sock.settimeout(self.deadline.check())
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self._name)
            self.use(self.deadline)

    def _open(self, address: tuple[str, int], *_: Any) -> _Socket:
        """Connect to the first address of the host that responds in its part of the time."""
        found = _look_up(address, self.deadline)
        failure = OSError("The host has no address.")
        for number, (family, kind, protocol, _name, resolved) in enumerate(found):
            seconds = self.deadline.check() / (len(found) - number)
            sock = _Socket(family, kind, protocol)
            sock.deadline = self.deadline
            sock.settimeout(seconds)
            try:
                sock.connect(resolved)
            except OSError as error:
                sock.close()
                failure = error
            else:
                return sock
        raise failure


def _look_up(address: tuple[str, int], deadline: Deadline) -> list[Any]:
    """Look up the host in a thread, which is left behind if it takes too long: nothing ends it."""
    lookup: Future[list[Any]] = Future()

    def run() -> None:
        try:
            lookup.set_result(socket.getaddrinfo(*address, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            lookup.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return lookup.result(deadline.check())
    except LookupTimeout as error:
        raise OSError("The lookup of the host took too long.") from error


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _close_all(connections: list[_Connection]) -> None:
    with suppress(IndexError):
        while True:
            connections.pop().close()


def _has_data(sock: Any) -> bool:
    """Return whether something arrived without a request: the end of the connection."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))
