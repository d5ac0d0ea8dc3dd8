"""Send requests over connections that stay open, within a deadline, with the standard library."""

from __future__ import annotations

import http.client
import io
import os
import selectors
import socket
import ssl
import threading
import weakref
from base64 import b64encode
from typing import Any, BinaryIO, Optional
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from emailvalidation._calls import Deadline, Request, Response
from emailvalidation.errors import ConnectionFailed

_MAX_IDLE = 20
_BLOCK = 64 * 1024


class Transport:
    """Threads may share it. A connection serves one request at a time."""

    def __init__(self, base_url: str) -> None:
        self._url = urlsplit(base_url)
        self._context = ssl.create_default_context() if self._url.scheme == "https" else None
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()
        # Connections of a client that was never closed end with it.
        weakref.finalize(self, _close_all, self._idle)

    def send(self, request: Request) -> Response:
        connection = self._take() or self._new_connection()
        try:
            connection.deadline = request.deadline
            path = self._url.path.rstrip("/") + request.path
            connection.request(request.method, path, request.body, request.headers)
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            body = _read(answer, request.to if answer.status < 400 else None)
        # UnicodeError: a host name that can't be looked up.
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            connection.disconnect()
            request.deadline.check()
            reason = str(error) or type(error).__name__
            raise ConnectionFailed(
                f"The connection to {self._url.netloc} failed: {reason}"
            ) from error
        except BaseException:
            connection.disconnect()
            raise
        if answer.will_close:
            connection.disconnect()
        else:
            self._keep(connection)
        return Response.read(answer.status, headers, body)

    def close(self) -> None:
        with self._lock:
            _close_all(self._idle)

    def _take(self) -> Optional[_Connection]:
        """Return an idle connection that the server hasn't closed."""
        with self._lock:
            if self._pid != os.getpid():
                # After a fork, the connections belong to the parent.
                self._pid = os.getpid()
                _close_all(self._idle)
            while self._idle:
                connection = self._idle.pop()
                if not _has_data(connection):
                    return connection
                connection.disconnect()
        return None

    def _keep(self, connection: _Connection) -> None:
        with self._lock:
            if len(self._idle) < _MAX_IDLE and self._pid == os.getpid():
                self._idle.append(connection)
                return
        connection.disconnect()

    def _new_connection(self) -> _Connection:
        host, port = self._url.hostname or "", self._url.port
        proxy = getproxies().get(self._url.scheme, "") if self._context else ""
        if not proxy or proxy_bypass(host):
            return _Connection(host, port, self._context)
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        connection = _Connection(parts.hostname or "", parts.port or 8080, self._context)
        connection.set_tunnel(host, port or 443, _proxy_headers(parts))
        return connection


class _Connection(http.client.HTTPConnection):
    """A connection whose every wait ends with the deadline of its current request."""

    deadline: Deadline

    def __init__(self, host: str, port: Optional[int], context: Optional[ssl.SSLContext]) -> None:
        super().__init__(host, port or (443 if context else 80))
        self._context = context
        self._server_name = host
        self._socket: Optional[socket.socket] = None
        # http.client calls it before CONNECT to a proxy, which must keep the deadline, too.
        self._create_connection = self._open

    def set_tunnel(self, host: str, *args: Any, **kwargs: Any) -> None:
        self._server_name = host
        super().set_tunnel(host, *args, **kwargs)

    def connect(self) -> None:
        self.timeout = self.deadline.check()
        super().connect()
        if self._context and self._socket:
            self._socket.settimeout(self.deadline.check())
            self._socket = self._context.wrap_socket(
                self._socket, server_hostname=self._server_name
            )
            self.sock = _DeadlineSocket(self._socket, self)

    def _open(self, *args: Any) -> _DeadlineSocket:
        self._socket = socket.create_connection(*args)
        return _DeadlineSocket(self._socket, self)

    def disconnect(self) -> None:
        self.close()
        if self._socket:
            self._socket.close()

    def fileno(self) -> int:
        return self.sock.fileno()


class _DeadlineSocket:
    """The part of a socket that http.client uses, with a timeout that shrinks while it waits."""

    def __init__(self, sock: socket.socket, connection: _Connection) -> None:
        self._sock = sock
        self._connection = connection

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(self._connection.deadline.check())
        self._sock.sendall(data)

    def recv_into(self, buffer: Any) -> int:
        self._sock.settimeout(self._connection.deadline.check())
        return self._sock.recv_into(buffer)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self), _BLOCK)

    def setsockopt(self, *args: Any) -> None:
        self._sock.setsockopt(*args)

    def fileno(self) -> int:
        return self._sock.fileno()

    def close(self) -> None:
        """Leave it to `disconnect`: http.client closes it before a last response is read."""


class _Reader(io.RawIOBase):
    def __init__(self, sock: _DeadlineSocket) -> None:
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._sock.recv_into(buffer)


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _close_all(connections: list[_Connection]) -> None:
    while connections:
        connections.pop().disconnect()


def _has_data(connection: _Connection) -> bool:
    """Return whether something arrived without a request: the end of the connection."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))


def _read(answer: http.client.HTTPResponse, to: Optional[BinaryIO]) -> bytes:
    if to is None:
        return answer.read()
    while block := answer.read(_BLOCK):
        to.write(block)
    if answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
    return b""
