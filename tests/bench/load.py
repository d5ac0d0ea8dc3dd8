"""The load generator: lean, so that what it measures is the server and not itself."""

import math
import re
import selectors
import socket
import time
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle
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
    # What they may be answered with.
    statuses: tuple[int, ...] = (200,)
    # Requests a second, of all callers together. None: as many as are answered.
    rate: float | None = None
    # Then it is over, however much time is left.
    most: int | None = None


@dataclass(frozen=True)
class Outcome:
    seconds: float
    # The share of one core that the generator itself needed.
    generator_share: float
    answered: list[float]
    # How long the calls had waited that were unanswered at the end. Left out, a server that
    # answers nothing would seem to have no delays.
    waiting: list[float]

    @property
    def rate(self) -> float:
        return len(self.answered) / self.seconds

    def percentile(self, percent: int) -> float:
        times = sorted(self.answered + self.waiting)
        return times[len(times) * percent // 100]


def build_request(method: str, path: str, body: bytes = b"", key: str = "") -> bytes:
    bearer = f"Authorization: Bearer {key}\r\n" if key else ""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}"
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
            if caller.hear():
                answered.append(time.perf_counter() - caller.asked_at)
                free.append(caller)
        now = time.perf_counter()
    share = (time.process_time() - cpu_before) / (now - start)
    waiting = [now - caller.asked_at for caller in callers if caller not in free]
    return Outcome(now - start, share, answered, waiting)


class Caller:
    """One kept-alive connection at a time, with at most one request under way."""

    def __init__(self, load: Load, selector: selectors.BaseSelector) -> None:
        self.load = load
        self.selector = selector
        self.expected = tuple(f"HTTP/1.1 {status} ".encode() for status in load.statuses)
        self.connect()

    def connect(self) -> None:
        self.connection = socket.create_connection(self.load.address, timeout=CONNECT_SECONDS)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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

    def hear(self) -> bool:
        """Whether the answer is complete by now."""
        piece = self.connection.recv(65536)
        if not piece:
            raise UnexpectedAnswer("The server closed a connection.")
        self.received += piece
        return is_complete(self.received, self.expected)


def is_complete(answer: bytes, expected: tuple[bytes, ...]) -> bool:
    head_size = answer.find(b"\r\n\r\n") + 4
    if head_size < 4:
        return False
    length = _LENGTH.search(answer, 0, head_size)
    if length is None or not answer.startswith(expected):
        raise UnexpectedAnswer(answer[:500].decode("latin-1"))
    return len(answer) >= head_size + int(length[1])
