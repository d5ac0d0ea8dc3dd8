"""The web worker: gunicorn's gevent worker, which reads whole requests and limits its load.

What stays here is what gunicorn, gevent and the reverse proxy don't do: errors in the API's
documented shape, bodies that are read before Django (so slow clients hold no database connection),
and a 503 for requests beyond the worker's capacity. docs/performance.md explains the choice of
gevent. Nothing may import Django before gevent has patched the worker.
"""

import logging
from collections.abc import Iterable
from contextlib import suppress
from io import BytesIO
from socket import socket
from typing import Protocol
from urllib.parse import unquote, urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import gevent
from gevent.lock import BoundedSemaphore
from gevent.server import StreamServer
from gunicorn.http import errors, wsgi
from gunicorn.util import close_graceful
from gunicorn.workers import ggevent
from gunicorn.workers.ggevent import GeventWorker

from apikeys.rest.paths import is_api_path, max_body_bytes
from config.server.form_limits import MAX_FORM_BYTES, max_form_bytes
from config.server.response import OneWriteResponse
from runtime.database.timeouts import (
    API_QUERY_TIMEOUT,
    PAGE_QUERY_TIMEOUT,
    is_page_request,
    query_timeout,
)
from runtime.http.load_shedding import concurrency_limit

BODY_SECONDS = 10
# Few large bodies are read at the same time, so that they can't fill the memory, and each has more
# time.
LARGE_BODIES, LARGE_BODY_SECONDS = 8, 60
# How much of a refused request is read, for up to two seconds. Closing a socket with unread bytes
# would reset it and lose the response.
MAX_DRAINED_BYTES = 16 * 1024 * 1024
# See _yield_to_greenlets.
YIELD_SECONDS = 0.01
# See _drain_events.
PAUSE_SECONDS, PAUSE_PRIORITY = 0.002, -1

logger = logging.getLogger("config.server.worker")
_large_bodies = BoundedSemaphore(LARGE_BODIES)


class ParsedRequest(Protocol):
    """The attributes of gunicorn's request that the worker uses."""

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


class LoadAwareServer(StreamServer):
    """Accept more connections per iteration of the event loop the busier the worker is.

    gunicorn accepts one, so that all workers get some. But the loop of a busy worker runs only a
    few times a second: new connections would wait for seconds, and a worker at its limit couldn't
    send them a 503.
    """

    # Ignores the 1 that gunicorn sets.
    max_accept = property(lambda _: 1 + concurrency_limit.in_progress // 4, lambda *_: None)


class Worker(GeventWorker):
    def load_wsgi(self) -> None:
        super().load_wsgi()
        self.wsgi = limit_load(self.app.wsgi())

    def run(self) -> None:
        ggevent.StreamServer = LoadAwareServer
        wsgi.Response = OneWriteResponse
        # Not at the top: its locks must be created after gevent has patched the process.
        from runtime.database import coalescing
        from runtime.http import fairness

        coalescing.yield_to_others = _yield_to_greenlets
        fairness.drain_events = _drain_events
        self.log_greenlet_errors()
        super().run()

    @staticmethod
    def log_greenlet_errors() -> None:
        """Log uncaught exceptions of greenlets. gevent would print their messages, too."""
        from runtime.logging.formatters import log_crash

        gevent.get_hub().print_exception = lambda _, *error: log_crash(*error)

    def handle_request(
        self, listener_name: object, request: ParsedRequest, client: socket, address: object
    ) -> object:
        refuse_ambiguous_request(request)
        # RFC 9110, 2.5: gunicorn would repeat a version that it doesn't support, such as 1.9.
        request.version = min(request.version, (1, 1))
        is_complete = _read_body(request, client)
        if not is_complete or _asks_to_close(request):
            request.force_close()
        try:
            return super().handle_request(listener_name, request, client, address)
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
    # It is refused by its length: by the API after the key is checked, or by LargeFormMiddleware.
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
    from runtime.http import fairness

    def call(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_api = is_api_path(environ["PATH_INFO"])
        query_timeout.set(API_QUERY_TIMEOUT if is_api else PAGE_QUERY_TIMEOUT)
        is_page_request.set(not is_api)
        if is_api and not concurrency_limit.enter():
            from apikeys.rest.worker_responses import refuse_overload

            return refuse_overload(environ, start_response)
        try:
            with fairness.request():
                return application(environ, start_response)
        finally:
            concurrency_limit.leave()

    return call


def _yield_to_greenlets() -> None:
    """Let the worker's other greenlets run until all of them wait, or YIELD_SECONDS have passed.

    Coalescing calls this before a group's query, so that more requests can join the group.
    """
    with gevent.Timeout(YIELD_SECONDS, False):
        gevent.idle()


def _drain_events() -> None:
    """Let the worker's other greenlets run first, also those that coalescing lets wait."""
    with gevent.Timeout(PAUSE_SECONDS, False):
        gevent.idle(PAUSE_PRIORITY)
