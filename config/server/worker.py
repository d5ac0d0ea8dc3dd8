"""The web worker: gunicorn's gevent worker, made fair and patient only so far.

Why gevent: docs/performance.md. What it refuses itself has the shape and the headers of every other
refusal of the API. Nothing of Django is imported before gevent has patched the worker.
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

from apikeys.rest.paths import MAX_BODY_BYTES as LARGEST_API_BODY
from apikeys.rest.paths import is_api_path
from config.server.graceful_reload import Connections, GracefulReload
from runtime.database.timeouts import API_SECONDS, PAGE_SECONDS, database_seconds, serves_page
from runtime.http.load_shedding import concurrency_limit

# A body is read whole before Django is called: a client that sends it slowly, or never, holds no
# database connection meanwhile.
BODY_SECONDS = 10
LARGEST_BODY = 3 * 1024 * 1024
# What a client still sends after it was refused is read for so long, or it would not see why.
LINGER_SECONDS = 2

# What gunicorn's parser raises when it is the client's fault.
UNREADABLE = (errors.ParseException, errors.InvalidProxyHeader)
OURS = (errors.ConfigurationProblem, errors.InvalidResponseHeader, errors.InvalidResponseHeaderName)

# How long old workers stay for new ones that do not come: less than gunicorn lets them live.
HANDOVER_SECONDS = 20

# See _let_others_come.
COURTESY_SECONDS = 0.01

logger = logging.getLogger("config.server.worker")


class Door(StreamServer):  # type: ignore[misc]
    """Where connections come in.

    gunicorn lets one in each time its loop comes round, so that all workers get some. But a busy
    loop comes round a few times a second: whoever connects anew for each call would wait outside
    for seconds, and a worker that is full could tell nobody. If they are still there when a busy
    worker looks, no other one had time for them either.
    """

    @property
    def max_accept(self) -> int:
        return 1 + int(concurrency_limit.in_hand) // 4

    @max_accept.setter
    def max_accept(self, connections: int) -> None:
        """gunicorn would say: one."""


class Worker(GeventWorker):  # type: ignore[misc]
    # Set by config/server/gunicorn_settings.py as soon as the worker is forked.
    handover: GracefulReload
    connections: Connections
    is_leaving = False

    def run(self) -> None:
        ggevent.StreamServer = Door
        # Not at the top: its locks are gevent's only when gevent has patched the process.
        from runtime.database import coalescing

        coalescing.yield_to_others = _let_others_come
        self.log_greenlets()
        super().run()

    def load_wsgi(self) -> None:
        """gunicorn logs a traceback of settings that are wrong; an operator needs the sentence."""
        from django.core.exceptions import ImproperlyConfigured

        try:
            super().load_wsgi()
        except ImproperlyConfigured as error:
            raise AppImportError(str(error)) from error

    def handle_exit(self, number: int, frame: Any) -> None:
        """gunicorn says it every second until the worker is gone."""
        if not self.is_leaving:
            self.is_leaving = True
            gevent.spawn(self._leave)

    def _leave(self) -> None:
        is_followed = self.handover.is_for(self.age)
        with gevent.Timeout(HANDOVER_SECONDS, False):
            while is_followed and not self.handover.is_ready():
                gevent.sleep(0.1)
        # From now on nobody new is let in, and each answer says that it is its connection's last.
        # Where others follow, a connection that is idle may wait for its next one as ever.
        self.alive = False
        if not is_followed:
            self.connections.end_idle()

    def handle(self, listener: Any, client: Any, address: Any) -> None:
        with self.connections.keep(client):
            super().handle(listener, client, address)

    def timeout_ctx(self) -> Any:
        gevent.getcurrent().waits = timeout = super().timeout_ctx()
        return timeout

    @staticmethod
    def log_greenlets() -> None:
        """gevent would print what a greenlet of its own died of, with the text of the error."""
        from runtime.logging.formatters import log_crash

        gevent.get_hub().print_exception = lambda _, *error: log_crash(*error)

    def handle_request(self, listener_name: Any, request: Any, client: Any, address: Any) -> Any:
        self._refuse_ambiguity(request, client, address)
        # RFC 9110, 2.5: gunicorn would answer 1.9 with 1.9, which is none.
        request.version = min(request.version, (1, 1))
        is_api = is_api_path(unquote(request.path))
        database_seconds.set(API_SECONDS if is_api else PAGE_SECONDS)
        serves_page.set(not is_api)
        whole = self._read_body(request, client, address, is_api=is_api)
        if not whole or _asks_to_close(request.headers):
            request.force_close()
        try:
            if is_api and not concurrency_limit.enter():
                return self._turn_away(request, client, address)
            return super().handle_request(listener_name, request, client, address)
        finally:
            concurrency_limit.leave()
            # A greenlet only gives way when it has to wait. A client whose next request is already
            # there would be served again and again while the others of this worker wait.
            gevent.sleep(0)
            if not whole:
                _linger(client)

    def handle_error(self, request: Any, client: Any, address: Any, error: BaseException) -> None:
        """gunicorn would answer in HTML, and log what it could not read: a key, perhaps."""
        if isinstance(error, UNREADABLE) and not isinstance(error, OURS):
            self._refuse(request, client, address, "bad_request", reason=type(error).__name__)
        elif not isinstance(error, SystemExit | gevent.GreenletExit):
            logger.error("Crash of the web worker", exc_info=error)
            self._refuse(request, client, address, "internal_error", reason=type(error).__name__)

    def _read_body(self, request: Any, client: Any, address: Any, *, is_api: bool) -> bool:
        """False when there is more of it than anybody needs: the rest was not read."""
        limit = LARGEST_API_BODY if is_api else LARGEST_BODY
        headers = dict(request.headers)
        if is_api and int(headers.get("CONTENT-LENGTH", 0)) > limit:
            # The API refuses it for the number alone, after it has judged the key.
            request._expected_100_continue = False
            request.body = BytesIO()
            return False
        body = self._receive(request, client, address, limit)
        if len(body) > limit and not is_api:
            self._refuse(request, client, address, "request_too_large", "At most 3 MB are read.")
            raise StopIteration
        request.body = BytesIO(body)
        if "TRANSFER-ENCODING" in headers:
            _say_length(request, len(body))
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

    def _refuse_ambiguity(self, request: Any, client: Any, address: Any) -> None:
        """What a proxy in front might read in another way than Django: RFC 9112, 3.2 and 6.1."""
        hosts = [value for name, value in request.headers if name == "HOST"]
        codings = [v.strip().lower() for n, v in request.headers if n == "TRANSFER-ENCODING"]
        if request.version >= (1, 1) and not hosts:
            message = "The Host header is missing."
        elif codings not in ([], ["chunked"]):
            message = "Of the transfer codings only chunked is known."
        elif not request.uri.startswith(("/", "*")) and not _names(request.uri, hosts):
            message = "The request's target names another host than its Host header."
        else:
            return
        self._refuse(request, client, address, "bad_request", message)
        raise StopIteration

    def _turn_away(self, request: Any, client: Any, address: Any) -> None:
        """Its body was read: the next request of this connection may follow."""
        from apikeys.rest.server_refusals import overload_response

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
        from apikeys.rest.server_refusals import raw_error_response

        peer = address[0] if isinstance(address, tuple) else ""
        answer = raw_error_response(ApiError(code, message), peer, reason or message)
        # Of what could not be read it is not known.
        if getattr(request, "method", "") == "HEAD":
            answer = b"".join(answer.partition(b"\r\n\r\n")[:2])
        try:
            client.sendall(answer)
        except OSError:
            logger.debug("The client had gone before it was refused.")
        else:
            _linger(client)


def _let_others_come() -> None:
    """Whoever is about to ask the database for all who wait for it lets the others of this worker
    come as far as that first: until there is nothing else to do, but not for long."""
    with gevent.Timeout(COURTESY_SECONDS, False):
        gevent.idle()


def _asks_to_close(headers: list[tuple[str, str]]) -> bool:
    """RFC 9110, 7.6.1: Connection is a list of options; gunicorn compares the header as a whole."""
    return any(
        name == "CONNECTION"
        and "close" in (option.strip(" \t") for option in text.lower().split(","))
        for name, text in headers
    )


def _names(target: str, hosts: list[str]) -> bool:
    """Whether an absolute target is of the host that was asked, which Django then checks."""
    parts = urlsplit(target)
    return parts.scheme in {"http", "https"} and [parts.netloc] == hosts


def _say_length(request: Any, length: int) -> None:
    """Django believes in no body without a Content-Length; this one came in chunks."""
    request.headers = [
        header
        for header in request.headers
        if header[0] not in {"TRANSFER-ENCODING", "CONTENT-LENGTH"}
    ]
    request.headers.append(("CONTENT-LENGTH", str(length)))


def _linger(client: Any) -> None:
    """A connection closed with unread bytes is reset, and the answer in it is lost."""
    with gevent.Timeout(LINGER_SECONDS, False):
        try:
            client.shutdown(1)
            while client.recv(65536):
                pass
        except OSError:
            pass
