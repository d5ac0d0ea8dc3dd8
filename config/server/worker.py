"""Run gunicorn's gevent worker with JSON errors and limited load.

It reads bodies before Django, so slow clients hold no database connection. Nothing may import
Django before gevent has patched the worker.
"""

import logging
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from socket import SO_LINGER, SOL_SOCKET, socket
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import gevent
from gevent.lock import BoundedSemaphore
from gunicorn.http import errors
from gunicorn.util import close_graceful
from gunicorn.workers.ggevent import GeventWorker

from apikeys.rest.paths import is_api_path, max_body_bytes
from config.server.form_limits import MAX_FORM_BYTES, max_form_bytes
from runtime.database.timeouts import API_QUERY_TIMEOUT, PAGE_QUERY_TIMEOUT, query_timeout
from runtime.http.load_shedding import concurrency_limit

BODY_SECONDS = 10
# Few large bodies are read at the same time, so that they can't fill the memory, and each has more
# time.
LARGE_BODIES, LARGE_BODY_SECONDS = 8, 60
# How long a client may take to read a piece of a stream (64 KB).
SEND_SECONDS = 60
# How much of a refused request is read, for up to two seconds. Closing a socket with unread bytes
# would reset it and lose the response.
MAX_DRAINED_BYTES = 16 * 1024 * 1024
YIELD_SECONDS = 0.01

logger = logging.getLogger("config.server.worker")
_large_bodies = BoundedSemaphore(LARGE_BODIES)


class ParsedRequest(Protocol):
    method: str
    uri: str
    path: str
    version: tuple[int, int]
    headers: list[tuple[str, str]]
    body: BytesIO
    _expected_100_continue: bool

    def force_close(self) -> None: ...


class Refusal(Exception):
    """A request that the worker refuses. The arguments are the error's code and message."""


class Worker(GeventWorker):
    def load_wsgi(self) -> None:
        super().load_wsgi()
        self.wsgi = limit_load(self.app.wsgi())

    def run(self) -> None:
        # Not at the top: its locks must be created after gevent has patched the process.
        from runtime.database import coalescing

        coalescing.yield_to_others = _yield_to_greenlets
        self.log_greenlet_errors()
        super().run()

    @staticmethod
    def log_greenlet_errors() -> None:
        """Log uncaught exceptions of greenlets. gevent would print their messages, too."""
        from runtime.logging.formatters import log_crash

        gevent.get_hub().print_exception = lambda _, *error: log_crash(*error)

    def handle(self, listener: socket, client: socket, address: object) -> None:
        from django.db import connections

        try:
            super().handle(listener, client, address)
        finally:
            connections.close_all()

    def handle_request(
        self, listener_name: object, request: ParsedRequest, client: socket, address: object
    ) -> object:
        refuse_ambiguous_request(request)
        # RFC 9110, 2.5: gunicorn would repeat an unsupported version, such as 1.9.
        request.version = min(request.version, (1, 1))
        is_complete = _read_body(request, client)
        if not is_complete or _asks_to_close(request):
            request.force_close()
        try:
            return super().handle_request(listener_name, request, client, address)
        except TimeoutError:
            # The client of a stream has stopped reading.
            _reset_on_close(client)
            raise StopIteration from None
        finally:
            # Greenlets yield only when they wait. Without this, a client that pipelines requests
            # would be served again and again while other connections wait.
            gevent.sleep(0)
            if not is_complete:
                close_graceful(client, max_drain=MAX_DRAINED_BYTES)

    def handle_error(
        self, request: ParsedRequest | None, client: socket, address: object, error: BaseException
    ) -> None:
        """Send a JSON error. gunicorn would send HTML and log input, which may contain a key."""
        reason = type(error).__name__
        if isinstance(error, Refusal):
            code, message = error.args
            reason = message
        elif isinstance(error, errors.LimitRequestLine):
            code, message = "bad_request", "The URL is too long."
        elif request is None and isinstance(error, errors.ParseException):
            code, message = "bad_request", ""
        elif isinstance(error, Exception):
            logger.error("Uncaught exception in the web worker", exc_info=error)
            code, message = "internal_error", ""
        else:
            return
        from apikeys.errors import ApiError
        from apikeys.rest.worker_responses import raw_error_response

        peer = address[0] if isinstance(address, tuple) else ""
        method = request.method if request else ""
        with suppress(OSError):
            client.sendall(raw_error_response(ApiError(code, message), peer, reason, method))
            close_graceful(client, max_drain=MAX_DRAINED_BYTES)


def refuse_ambiguous_request(request: ParsedRequest) -> None:
    """Refuse what a reverse proxy may read differently than Django: RFC 9112, 3.2 and 6.1.

    gunicorn refuses most of it, but accepts these three.
    """
    headers = dict(request.headers)
    host = headers.get("HOST")
    codings = {text.lower() for name, text in request.headers if name == "TRANSFER-ENCODING"}
    if request.version >= (1, 1) and host is None:
        raise Refusal("bad_request", "The Host header is missing.")
    if codings - {"chunked"}:
        raise Refusal("bad_request", "The only supported transfer coding is chunked.")
    if not request.uri.startswith(("/", "*")) and urlsplit(request.uri)[:2] not in {
        ("http", host),
        ("https", host),
    }:
        raise Refusal("bad_request", "The request target and the Host header name different hosts.")


def _asks_to_close(request: ParsedRequest) -> bool:
    """Read Connection as a list of options (RFC 9110, 7.6.1), which gunicorn doesn't."""
    options = ",".join(text for name, text in request.headers if name == "CONNECTION")
    return "close" in [option.strip(" \t") for option in options.lower().split(",")]


def _read_body(request: ParsedRequest, client: socket) -> bool:
    """Read the body. Return False if it's larger than allowed, so that some of it is unread."""
    path = unquote(request.path)
    limit = max_body_bytes(path) if is_api_path(path) else max_form_bytes(path)
    headers = dict(request.headers)
    length = int(headers.get("CONTENT-LENGTH", 0))
    # A chunked body has no length.
    is_large = length > MAX_FORM_BYTES or "TRANSFER-ENCODING" in headers
    receive = _receive_large if is_large and limit > MAX_FORM_BYTES else _receive
    body = receive(request, client, limit + 1) if length <= limit else b""
    is_complete = max(length, len(body)) <= limit
    # Refused later: by the API after the key is checked, or by LargeFormMiddleware.
    request._expected_100_continue = False
    request.body = BytesIO(body)
    if "TRANSFER-ENCODING" in headers:
        # Django ignores bodies without a length.
        request.headers = [h for h in request.headers if h[0] != "TRANSFER-ENCODING"]
        request.headers.append(("CONTENT-LENGTH", str(len(body))))
    return is_complete


def _receive_large(request: ParsedRequest, client: socket, size: int) -> bytes:
    with _large_bodies:
        return _receive(request, client, size, LARGE_BODY_SECONDS)


def _receive(
    request: ParsedRequest, client: socket, size: int, seconds: int = BODY_SECONDS
) -> bytes:
    if request._expected_100_continue:
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    try:
        with gevent.Timeout(seconds, False):
            return request.body.read(size)
    except (errors.NoMoreData, errors.ParseException) as error:
        raise Refusal("bad_request", "The body is malformed or incomplete.") from error
    raise Refusal("bad_request", f"The body didn't arrive within {seconds} seconds.")


def limit_load(application: WSGIApplication) -> WSGIApplication:
    """Refuse API requests beyond the worker's capacity, and set the timeout of queries."""

    def call(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_api = is_api_path(environ["PATH_INFO"])
        query_timeout.set(API_QUERY_TIMEOUT if is_api else PAGE_QUERY_TIMEOUT)
        if is_api and not concurrency_limit.enter():
            from apikeys.rest.worker_responses import refuse_overload

            return refuse_overload(environ, start_response)
        try:
            response = application(environ, start_response)
        finally:
            concurrency_limit.leave()
        is_file = isinstance(response, environ["wsgi.file_wrapper"])
        if environ.get("email_validation.streams") and not is_file:
            return _send_stream(response, environ["gunicorn.socket"])
        return response

    return call


def _send_stream(response: Any, client: socket) -> Iterator[bytes]:
    """Yield the pieces of a response that clients must never take for complete if it isn't."""
    client.settimeout(SEND_SECONDS)
    try:
        yield from response
    except Exception:
        _reset_on_close(client)
        client.close()
        raise
    finally:
        client.settimeout(None)
        response.close()


def _reset_on_close(client: socket) -> None:
    """Make closing the connection an error for the client.

    To HTTP/1.0 clients, a connection that is closed in order is the end of the response.
    """
    client.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))


def _yield_to_greenlets() -> None:
    """Let the worker's other greenlets run until all of them wait, or YIELD_SECONDS have passed.

    Coalescing calls this before a group's query, so that more requests can join the group.
    """
    with gevent.Timeout(YIELD_SECONDS, False):
        gevent.idle()
