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
from typing import Any, BinaryIO, Optional
from urllib.parse import urlsplit
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
        # Clients that nobody closes don't leave their connections open.
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
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            request.deadline.check()
            reason = str(error) or type(error).__name__
            raise ConnectionFailed(
                f"The connection to {self._url.netloc} failed: {reason}"
            ) from error
        except BaseException:
            connection.close()
            raise
        if answer.will_close:
            connection.close()
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
                connection.close()
        return None

    def _keep(self, connection: _Connection) -> None:
        with self._lock:
            if len(self._idle) < _MAX_IDLE and self._pid == os.getpid():
                self._idle.append(connection)
                return
        connection.close()

    def _new_connection(self) -> _Connection:
        host, port = self._url.hostname or "", self._url.port
        proxy = getproxies().get(self._url.scheme, "") if self._context else ""
        if not proxy or proxy_bypass(host):
            return _Connection(host, port, self._context)
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        connection = _Connection(parts.hostname or "", parts.port or 8080, self._context)
        connection.set_tunnel(host, port or 443)
        return connection


class _Connection(http.client.HTTPConnection):
    """A connection whose every wait ends with the deadline of its current request."""

    deadline: Deadline

    def __init__(self, host: str, port: Optional[int], context: Optional[ssl.SSLContext]) -> None:
        super().__init__(host, port or (443 if context else 80))
        self._context = context
        self._server_name = host

    def set_tunnel(self, host: str, *args: Any, **kwargs: Any) -> None:
        self._server_name = host
        super().set_tunnel(host, *args, **kwargs)

    def connect(self) -> None:
        self.timeout = self.deadline.check()
        super().connect()
        if self._context:
            self.sock.settimeout(self.deadline.check())
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self._server_name)
        self.sock = _DeadlineSocket(self.sock, self)

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

    def fileno(self) -> int:
        return self._sock.fileno()

    def close(self) -> None:
        self._sock.close()


class _Reader(io.RawIOBase):
    def __init__(self, sock: _DeadlineSocket) -> None:
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._sock.recv_into(buffer)


def _close_all(connections: list[_Connection]) -> None:
    while connections:
        connections.pop().close()


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
