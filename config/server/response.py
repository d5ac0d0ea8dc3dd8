from io import BytesIO
from typing import Protocol

from gunicorn.http.wsgi import Response


class _Client(Protocol):
    def sendall(self, data: bytes, /) -> object: ...


class _Buffer(BytesIO):
    sendall = BytesIO.write


class OneWriteResponse(Response):
    """A response whose head is sent together with the first part of its body.

    gunicorn sends the head first, which costs another system call, and often wakes the client
    twice. It has no setting for that. It still checks the headers, and frames the body.
    """

    sock: _Client

    def write(self, data: bytes) -> None:
        if self.headers_sent:
            super().write(data)
            return
        client = self.sock
        self.sock = buffer = _Buffer()
        try:
            super().write(data)
        finally:
            self.sock = client
        client.sendall(buffer.getvalue())
