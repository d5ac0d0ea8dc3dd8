"""The load generator: lean, so that what it measures is the server and not itself."""

import math
import re
import selectors
import socket
import ssl
import time
from collections import defaultdict, deque
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, cycle
from typing import NamedTuple

CONNECT_SECONDS = 5
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Address(NamedTuple):
    host: str
    port: int


class UnexpectedAnswer(Exception):
    """Another status than was expected, or no answer: such a run measures nothing."""


@dataclass(frozen=True)
class Load:
    """Each caller sends the next request when its last one is answered; with a rate, when that
    request is due."""

    address: Address
    # Sent in turn, by whichever caller is free.
    requests: tuple[bytes, ...]
    callers: int
    seconds: float
    # Then the caller connects anew: over connections that live for ever, the chance by which
    # gunicorn's workers took them would decide the whole run.
    requests_per_connection: int = 100
    # What they may be answered with. None: with anything, or with nothing.
    statuses: tuple[int, ...] | None = (200,)
    # Requests a second, of all callers together. None: as many as are answered.
    rate: float | None = None
    # Then it is over, however much time is left.
    most: int | None = None
    # Over TLS: the file with the server's certificate, and its name.
    certificate: str = ""
    name: str = ""


@dataclass(frozen=True)
class Outcome:
    seconds: float
    # The share of one core that the generator itself needed.
    generator_share: float
    answered: list[float]
    # How long the calls had waited that were unanswered at the end. Left out, a server that
    # answers nothing would seem to have no delays.
    waiting: list[float]
    # The same as `answered`, by status; 0: the connection ended without an answer.
    by_status: dict[int, list[float]]

    @property
    def rate(self) -> float:
        return len(self.answered) / self.seconds

    def percentile(self, percent: int) -> float:
        return percentile([self], percent)


def percentile(outcomes: Iterable[Outcome], percent: int) -> float:
    """Of the calls of all of them."""
    times = sorted(chain(*(one.answered + one.waiting for one in outcomes)))
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


def _drive(callers: list["Caller"], selector: selectors.BaseSelector, load: Load) -> Outcome:
    answered: list[float] = []
    by_status: dict[int, list[float]] = defaultdict(list)
    requests, free = cycle(load.requests), deque(callers)
    cpu_before = time.process_time()
    start = now = due = time.perf_counter()
    while (left := start + load.seconds - now) > 0 and len(answered) < (load.most or math.inf):
        while free and due <= now:
            # From when it was due: a server that lags behind is not spared its delays.
            free.popleft().ask(next(requests), due if load.rate else now)
            due += 1 / load.rate if load.rate else 0
        for key, _ in selector.select(min(left, due - now) if free else left):
            caller = key.data
            status = caller.hear()
            if status is not None:
                answered.append(time.perf_counter() - caller.asked_at)
                by_status[status].append(answered[-1])
                free.append(caller)
        now = time.perf_counter()
    share = (time.process_time() - cpu_before) / (now - start)
    waiting = [now - caller.asked_at for caller in callers if caller not in free]
    return Outcome(now - start, share, answered, waiting, dict(by_status))


class Caller:
    """One kept-alive connection at a time, with at most one request under way."""

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

    def ask(self, request: bytes, asked_at: float) -> None:
        self.received = b""
        self.asked_at = asked_at
        if not self.requests_left:
            self.hang_up()
            self.connect()
        self.requests_left -= 1
        # A request is far smaller than the socket's buffer, so it never goes out in part.
        self.connection.send(request)

    def hear(self) -> int | None:
        """The status, when the answer is complete by now."""
        while not is_complete(self.received):
            try:
                piece = self.connection.recv(65536)
            except (BlockingIOError, ssl.SSLWantReadError):
                return None
            except ConnectionError:
                piece = b""
            if not piece:
                return self._is_left()
            self.received += piece
        return self._status()

    def _status(self) -> int:
        status = int(self.received[9:12])
        if self.load.statuses is not None and status not in self.load.statuses:
            raise UnexpectedAnswer(self.received[:500].decode("latin-1"))
        if b"\r\nConnection: close\r\n" in self.received:
            self.requests_left = 0
        return status

    def _is_left(self) -> int:
        if self.load.statuses is not None:
            raise UnexpectedAnswer("The server closed a connection.")
        self.hang_up()
        self.connect()
        return 0


def is_complete(answer: bytes) -> bool:
    head_size = answer.find(b"\r\n\r\n") + 4
    if head_size < 4:
        return False
    length = _LENGTH.search(answer, 0, head_size)
    if length is None or not answer.startswith(b"HTTP/1.1 "):
        raise UnexpectedAnswer(answer[:500].decode("latin-1"))
    return len(answer) >= head_size + int(length[1])
