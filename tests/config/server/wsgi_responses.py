"""A WSGI application with a path for each kind of response that a worker has to send."""

from collections.abc import Iterable
from pathlib import Path
from wsgiref.types import StartResponse, WSGIEnvironment

import django
from gunicorn.http.wsgi import FileWrapper

# The worker's own errors are responses of the product.
django.setup()

FILE = Path(__file__)
LENGTH = ("Content-Length", "5")
# Status, headers, and the parts of the body.
RESPONSES = {
    "/whole": ("200 OK", [LENGTH], [b"whole"]),
    "/streamed": ("200 OK", [("Content-Type", "text/csv")], [b"", b"first\n", b"", b"second\n"]),
    "/in-parts": ("200 OK", [LENGTH], [b"in", b"pa", b"rts, and more than was announced"]),
    "/nothing": ("200 OK", [("Content-Length", "0")], []),
    "/no-content": ("204 No Content", [LENGTH], [b"dropped"]),
    "/not-modified": ("304 Not Modified", [("ETag", '"1"'), LENGTH], [b"dropped"]),
    "/injected": ("200 OK", [("X-Name", "a\r\nX-Injected: yes")], [b"injected"]),
}


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if path == "/file":
        start_response("200 OK", [("Content-Length", str(FILE.stat().st_size))])
        wrapped: Iterable[bytes] = FileWrapper(FILE.open("rb"))
        return wrapped
    if path == "/written":
        write = start_response("200 OK", [])
        write(b"written\n")
        return [b"returned\n"]
    status, headers, parts = RESPONSES[path]
    start_response(status, headers)
    return iter(parts)
