"""The web worker: gunicorn's gevent worker, with limits on load, body size and time.

The error responses that it sends have the API's documented shape and headers. docs/performance.md
explains the choice of gevent. Nothing may import Django before gevent has patched the worker.
"""

import logging
from io import BytesIO
from typing import Any
from urllib.parse import unquote, urlsplit

import gevent
from gevent.server import StreamServer
from gunicorn.errors import AppImportError
from gunicorn.http import errors
from gunicorn.workers import ggevent
from gunicorn.workers.ggevent import GeventWorker

from apikeys.rest.paths import MAX_BODY_BYTES as MAX_API_BODY_BYTES
from apikeys.rest.paths import is_api_path
from config.server.graceful_reload import Connections, GracefulReload
from runtime.database.timeouts import (
    API_QUERY_TIMEOUT,
    PAGE_QUERY_TIMEOUT,
    is_page_request,
    query_timeout,
)
from runtime.http.load_shedding import concurrency_limit

# The worker reads a body completely before it calls Django, so that slow clients hold no database
# connection.
BODY_SECONDS = 10
MAX_BODY_BYTES = 3 * 1024 * 1024
# How long the worker reads what a refused client still sends. See _linger.
LINGER_SECONDS = 2

# Exceptions of gunicorn's parser that the client causes, and subclasses that the server causes.
CLIENT_ERRORS = (errors.ParseException, errors.InvalidProxyHeader)
SERVER_ERRORS = (
    errors.ConfigurationProblem,
    errors.InvalidResponseHeader,
    errors.InvalidResponseHeaderName,
)

# How long old workers wait for new ones that don't become ready. Less than graceful_timeout.
RELOAD_WAIT_SECONDS = 20

# See _yield_to_greenlets.
YIELD_SECONDS = 0.01

logger = logging.getLogger("config.server.worker")


class LoadAwareServer(StreamServer):  # type: ignore[misc]
    """Accept more connections per iteration of the event loop the busier the worker is.

    gunicorn accepts one, so that all workers get some. But the loop of a busy worker runs only a
    few times a second: new connections would wait for seconds, and a worker at its limit couldn't
    send them a 503. Connections still in the queue when a busy worker accepts are ones that no
    other worker had time for.
    """

    @property
    def max_accept(self) -> int:
        return 1 + int(concurrency_limit.in_progress) // 4

    @max_accept.setter
    def max_accept(self, connections: int) -> None:
        """Ignore the 1 that gunicorn sets."""


class Worker(GeventWorker):  # type: ignore[misc]
    # Both set in post_fork: config/server/gunicorn_settings.py.
    graceful_reload: GracefulReload
    connections: Connections
    is_stopping = False

    def run(self) -> None:
        ggevent.StreamServer = LoadAwareServer
        # Not at the top: its locks must be created after gevent has patched the process.
        from runtime.database import coalescing

        coalescing.yield_to_others = _yield_to_greenlets
        self.log_greenlet_errors()
        super().run()

    def load_wsgi(self) -> None:
        """Report invalid settings without the traceback that gunicorn would log."""
        from django.core.exceptions import ImproperlyConfigured

        try:
            super().load_wsgi()
        except ImproperlyConfigured as error:
            raise AppImportError(str(error)) from error

    def handle_exit(self, number: int, frame: Any) -> None:
        """Begin to stop. gunicorn repeats the signal every second until the worker has ended."""
        if not self.is_stopping:
            self.is_stopping = True
            gevent.spawn(self._stop)

    def _stop(self) -> None:
        is_reload = self.graceful_reload.replaces(self.age)
        with gevent.Timeout(RELOAD_WAIT_SECONDS, False):
            while is_reload and not self.graceful_reload.is_complete():
                gevent.sleep(0.1)
        # From now on the worker accepts no connections, and its responses close theirs. During a
        # reload, idle connections may wait for another request for as long as usual.
        self.alive = False
        if not is_reload:
            self.connections.close_idle()

    def handle(self, listener: Any, client: Any, address: Any) -> None:
        with self.connections.track(client):
            super().handle(listener, client, address)

    def timeout_ctx(self) -> Any:
        gevent.getcurrent().keepalive_timeout = timeout = super().timeout_ctx()
        return timeout

    @staticmethod
    def log_greenlet_errors() -> None:
        """Log uncaught exceptions of greenlets. gevent would print their messages, too."""
        from runtime.logging.formatters import log_crash

        gevent.get_hub().print_exception = lambda _, *error: log_crash(*error)

    def handle_request(self, listener_name: Any, request: Any, client: Any, address: Any) -> Any:
        self._refuse_ambiguous_request(request, client, address)
        # RFC 9110, 2.5: a response has a version that the server supports. gunicorn would repeat
        # the client's HTTP/1.9.
        request.version = min(request.version, (1, 1))
        is_api = is_api_path(unquote(request.path))
        query_timeout.set(API_QUERY_TIMEOUT if is_api else PAGE_QUERY_TIMEOUT)
        is_page_request.set(not is_api)
        is_complete = self._read_body(request, client, address, is_api=is_api)
        if not is_complete or _asks_to_close(request.headers):
            request.force_close()
        try:
            if is_api and not concurrency_limit.enter():
                return self._refuse_overload(request, client, address)
            return super().handle_request(listener_name, request, client, address)
        finally:
            concurrency_limit.leave()
            # Greenlets yield only when they wait. Without this, a client that pipelines requests
            # would be served again and again while other connections wait.
            gevent.sleep(0)
            if not is_complete:
                _linger(client)

    def handle_error(self, request: Any, client: Any, address: Any, error: BaseException) -> None:
        """Send a JSON error. gunicorn would send HTML and log input, which may contain a key."""
        if isinstance(error, CLIENT_ERRORS) and not isinstance(error, SERVER_ERRORS):
            self._refuse(request, client, address, "bad_request", reason=type(error).__name__)
        elif not isinstance(error, SystemExit | gevent.GreenletExit):
            logger.error("Uncaught exception in the web worker", exc_info=error)
            self._refuse(request, client, address, "internal_error", reason=type(error).__name__)

    def _read_body(self, request: Any, client: Any, address: Any, *, is_api: bool) -> bool:
        """Read the body. Return False if it's larger than allowed, so that some of it is unread."""
        limit = MAX_API_BODY_BYTES if is_api else MAX_BODY_BYTES
        headers = dict(request.headers)
        if is_api and int(headers.get("CONTENT-LENGTH", 0)) > limit:
            # The API refuses it by its Content-Length, after it has checked the key.
            request._expected_100_continue = False
            request.body = BytesIO()
            return False
        body = self._receive(request, client, address, limit)
        if len(body) > limit and not is_api:
            self._refuse(request, client, address, "request_too_large", "At most 3 MB are read.")
            raise StopIteration
        request.body = BytesIO(body)
        if "TRANSFER-ENCODING" in headers:
            _set_content_length(request, len(body))
        return len(body) <= limit

    def _receive(self, request: Any, client: Any, address: Any, limit: int) -> bytes:
        if request._expected_100_continue:
            request._expected_100_continue = False
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        message = f"The body did not arrive within {BODY_SECONDS} seconds."
        try:
            with gevent.Timeout(BODY_SECONDS, False):
                body: bytes = request.body.read(limit + 1)
                return body
        except errors.NoMoreData:
            message = "The body ended in the middle of a chunk."
        self._refuse(request, client, address, "bad_request", message)
        raise StopIteration

    def _refuse_ambiguous_request(self, request: Any, client: Any, address: Any) -> None:
        """Refuse what a reverse proxy may read differently than Django: RFC 9112, 3.2 and 6.1."""
        hosts = [value for name, value in request.headers if name == "HOST"]
        codings = [v.strip().lower() for n, v in request.headers if n == "TRANSFER-ENCODING"]
        if request.version >= (1, 1) and not hosts:
            message = "The Host header is missing."
        elif codings not in ([], ["chunked"]):
            message = "Of the transfer codings only chunked is known."
        elif not request.uri.startswith(("/", "*")) and not _targets_host(request.uri, hosts):
            message = "The request's target names another host than its Host header."
        else:
            return
        self._refuse(request, client, address, "bad_request", message)
        raise StopIteration

    def _refuse_overload(self, request: Any, client: Any, address: Any) -> None:
        """Send a 503. The connection can stay open, as the body has been read."""
        from apikeys.rest.worker_responses import overload_response

        headers = dict(request.headers)
        meta = {f"HTTP_{name.replace('-', '_')}": text for name, text in headers.items()}
        meta["REMOTE_ADDR"] = address[0] if isinstance(address, tuple) else ""
        closes = request.should_close() or not self.alive
        client.sendall(overload_response(request.method, meta, closes=closes))
        if closes:
            raise StopIteration

    @staticmethod
    def _refuse(
        request: Any, client: Any, address: Any, code: str, message: str = "", *, reason: str = ""
    ) -> None:
        from apikeys.errors import ApiError
        from apikeys.rest.worker_responses import raw_error_response

        peer = address[0] if isinstance(address, tuple) else ""
        response = raw_error_response(ApiError(code, message), peer, reason or message)
        # Requests that can't be parsed have no method.
        if getattr(request, "method", "") == "HEAD":
            response = b"".join(response.partition(b"\r\n\r\n")[:2])
        try:
            client.sendall(response)
        except OSError:
            logger.debug("The client closed the connection before it was refused.")
        else:
            _linger(client)


def _yield_to_greenlets() -> None:
    """Let the worker's other greenlets run until all of them wait, or YIELD_SECONDS have passed.

    Coalescing calls this before a group's query, so that more requests can join the group.
    """
    with gevent.Timeout(YIELD_SECONDS, False):
        gevent.idle()


def _asks_to_close(headers: list[tuple[str, str]]) -> bool:
    """Read Connection as a list of options (RFC 9110, 7.6.1), which gunicorn doesn't."""
    return any(
        name == "CONNECTION"
        and "close" in (option.strip(" \t") for option in text.lower().split(","))
        for name, text in headers
    )


def _targets_host(target: str, hosts: list[str]) -> bool:
    """Return whether the absolute target has the host of the Host header, which Django checks."""
    parts = urlsplit(target)
    return parts.scheme in {"http", "https"} and [parts.netloc] == hosts


def _set_content_length(request: Any, length: int) -> None:
    """Replace the headers of a chunked body, as Django ignores bodies without Content-Length."""
    request.headers = [
        header
        for header in request.headers
        if header[0] not in {"TRANSFER-ENCODING", "CONTENT-LENGTH"}
    ]
    request.headers.append(("CONTENT-LENGTH", str(length)))


def _linger(client: Any) -> None:
    """Read on for a moment: closing a socket with unread bytes resets it and loses the response."""
    with gevent.Timeout(LINGER_SECONDS, False):
        try:
            client.shutdown(1)
            while client.recv(65536):
                pass
        except OSError:
            pass
