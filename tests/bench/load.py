"""The load generator: lean, so that what it measures is the server and not itself."""

import re
import selectors
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NamedTuple

CONNECT_SECONDS = 5
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Address(NamedTuple):
    host: str
    port: int


class UnexpectedAnswer(Exception):
    """The server said something else than 200, or hung up: such a run measures nothing."""


@dataclass(frozen=True)
class Load:
    """Each caller sends its next request when the last one is answered."""

    address: Address
    request: bytes
    callers: int
    seconds: float
    # Then the caller connects anew: over connections that live for ever, the chance by which
    # gunicorn's workers took them would decide the whole run.
    requests_per_connection: int = 100


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


def build_request(method: str, path: str, body: bytes = b"") -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def generate(load: Load) -> Outcome:
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        callers = [Caller(load, selector) for _ in range(load.callers)]
        for caller in callers:
            stack.callback(caller.hang_up)
        return _drive(callers, selector, load.seconds)


def _drive(callers: list["Caller"], selector: selectors.BaseSelector, seconds: float) -> Outcome:
    answered: list[float] = []
    cpu_before = time.process_time()
    start = now = time.perf_counter()
    for caller in callers:
        caller.ask()
    while (left := start + seconds - now) > 0:
        for key, _ in selector.select(left):
            caller = key.data
            if caller.hear():
                answered.append(time.perf_counter() - caller.asked_at)
                caller.ask()
        now = time.perf_counter()
    share = (time.process_time() - cpu_before) / (now - start)
    return Outcome(now - start, share, answered, [now - caller.asked_at for caller in callers])


class Caller:
    """One kept-alive connection at a time, with always one request under way."""

    def __init__(self, load: Load, selector: selectors.BaseSelector) -> None:
        self.load = load
        self.selector = selector
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

    def ask(self) -> None:
        self.received = b""
        self.asked_at = time.perf_counter()
        if not self.requests_left:
            self.hang_up()
            self.connect()
        self.requests_left -= 1
        # A request is far smaller than the socket's buffer, so it never goes out in part.
        self.connection.send(self.load.request)

    def hear(self) -> bool:
        """Whether the answer is complete by now."""
        piece = self.connection.recv(65536)
        if not piece:
            raise UnexpectedAnswer("The server closed a connection.")
        self.received += piece
        return is_complete(self.received)


def is_complete(answer: bytes) -> bool:
    head_size = answer.find(b"\r\n\r\n") + 4
    if head_size < 4:
        return False
    length = _LENGTH.search(answer, 0, head_size)
    if length is None or not answer.startswith(b"HTTP/1.1 200 "):
        raise UnexpectedAnswer(answer[:500].decode("latin-1"))
    return len(answer) >= head_size + int(length[1])
