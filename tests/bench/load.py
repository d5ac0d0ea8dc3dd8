"""A load generator with little overhead of its own, so that it measures the server."""

import math
import re
import selectors
import socket
import ssl
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, cycle
from typing import NamedTuple

CONNECT_SECONDS = 5
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Address(NamedTuple):
    host: str
    port: int


class UnexpectedResponse(Exception):
    """The server sent an unexpected status or no response, so the run measures nothing."""


@dataclass(frozen=True)
class Load:
    """A number of callers that send requests to a server.

    Each caller sends its next request as soon as its last one is answered. With a rate, it also
    waits until that request is due.
    """

    address: Address
    # Sent in order, starting over at the end.
    requests: tuple[bytes, ...]
    callers: int
    seconds: float
    # After this many requests, a caller opens a new connection. With permanent connections, their
    # random distribution over gunicorn's workers would decide the whole run.
    requests_per_connection: int = 100
    # Expected statuses. None: any status, or a connection closed without a response.
    statuses: tuple[int, ...] | None = (200,)
    # Requests per second of all callers together. None: as many as are answered.
    rate: float | None = None
    # Stop after this many responses, even before the time is over.
    max_requests: int | None = None
    # For TLS: the file with the server's certificate, and the server's name.
    certificate: str = ""
    name: str = ""


@dataclass(frozen=True)
class Outcome:
    seconds: float
    # The share of one core that the generator itself used.
    generator_share: float
    latencies: list[float]
    # How long the unanswered requests had waited at the end. Without these, a server that answers
    # nothing would seem to have no delays.
    pending: list[float]
    # The same as `latencies`, by status. 0: the connection was closed without a response.
    by_status: dict[int, list[float]]

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, percent: int) -> float:
        return percentile([self], percent)


def percentile(outcomes: Iterable[Outcome], percent: int) -> float:
    """Return a percentile over the requests of all outcomes."""
    times = sorted(chain(*(outcome.latencies + outcome.pending for outcome in outcomes)))
    return times[len(times) * percent // 100]


def build_request(
    method: str, path: str, body: bytes = b"", key: str = "", host: str = "127.0.0.1"
) -> bytes:
    bearer = f"Authorization: Bearer {key}\r\n" if key else ""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{bearer}"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def generate(load: Load) -> Outcome:
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        callers = [Caller(load, selector) for _ in range(load.callers)]
        for caller in callers:
            stack.callback(caller.hang_up)
        return _drive(callers, selector, load)


def generate_in_turns(
    executor: Executor,
    load: Load,
    rounds: int,
    pause: Callable[[], object],
    resume: Callable[[], object],
) -> tuple[list[Outcome], list[Outcome]]:
    """Generate the load in turns while other work is paused, and while it runs.

    What else the machine does then affects both alike.
    """
    alone, during = [], []
    for _ in range(rounds):
        pause()
        alone.append(executor.submit(generate, load).result())
        resume()
        during.append(executor.submit(generate, load).result())
    return alone, during


def _drive(callers: list["Caller"], selector: selectors.BaseSelector, load: Load) -> Outcome:
    latencies: list[float] = []
    by_status: dict[int, list[float]] = defaultdict(list)
    requests, free = cycle(load.requests), deque(callers)
    cpu_before = time.process_time()
    start = now = due = time.perf_counter()
    max_requests = load.max_requests or math.inf
    while (left := start + load.seconds - now) > 0 and len(latencies) < max_requests:
        while free and due <= now:
            # Measure from the due time, so that a server that lags behind shows its full delay.
            free.popleft().send(next(requests), due if load.rate else now)
            due += 1 / load.rate if load.rate else 0
        for key, _ in selector.select(min(left, due - now) if free else left):
            caller = key.data
            status = caller.receive()
            if status is not None:
                latencies.append(time.perf_counter() - caller.started_at)
                by_status[status].append(latencies[-1])
                free.append(caller)
        now = time.perf_counter()
    share = (time.process_time() - cpu_before) / (now - start)
    pending = [now - caller.started_at for caller in callers if caller not in free]
    return Outcome(now - start, share, latencies, pending, dict(by_status))


class Caller:
    """One keep-alive connection at a time, with at most one request in flight."""

    def __init__(self, load: Load, selector: selectors.BaseSelector) -> None:
        self.load = load
        self.selector = selector
        self.connect()

    def connect(self) -> None:
        self.received = b""
        self.connection = socket.create_connection(self.load.address, timeout=CONNECT_SECONDS)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.load.certificate:
            context = ssl.create_default_context(cafile=self.load.certificate)
            self.connection = context.wrap_socket(self.connection, server_hostname=self.load.name)
        self.connection.setblocking(False)
        self.selector.register(self.connection, selectors.EVENT_READ, self)
        self.requests_left = self.load.requests_per_connection

    def hang_up(self) -> None:
        self.selector.unregister(self.connection)
        self.connection.close()

    def send(self, request: bytes, started_at: float) -> None:
        self.received = b""
        self.started_at = started_at
        if not self.requests_left:
            self.hang_up()
            self.connect()
        self.requests_left -= 1
        # A request is far smaller than the socket's buffer, so it is never sent partially.
        self.connection.send(request)

    def receive(self) -> int | None:
        """Return the status if the response is complete."""
        while not is_complete(self.received):
            try:
                chunk = self.connection.recv(65536)
            except (BlockingIOError, ssl.SSLWantReadError):
                return None
            except ConnectionError:
                chunk = b""
            if not chunk:
                return self._handle_close()
            self.received += chunk
        return self._status()

    def _status(self) -> int:
        status = int(self.received[9:12])
        if self.load.statuses is not None and status not in self.load.statuses:
            raise UnexpectedResponse(self.received[:500].decode("latin-1"))
        if b"\r\nConnection: close\r\n" in self.received:
            self.requests_left = 0
        return status

    def _handle_close(self) -> int:
        if self.load.statuses is not None:
            raise UnexpectedResponse("The server closed a connection.")
        self.hang_up()
        self.connect()
        return 0


def is_complete(response: bytes) -> bool:
    head_size = response.find(b"\r\n\r\n") + 4
    if head_size < 4:
        return False
    length = _LENGTH.search(response, 0, head_size)
    if length is None or not response.startswith(b"HTTP/1.1 "):
        raise UnexpectedResponse(response[:500].decode("latin-1"))
    return len(response) >= head_size + int(length[1])
