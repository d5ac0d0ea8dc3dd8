"""Where log records leave: standard error, which somebody may have stopped reading.

A pipe that is full would stop whoever writes into it, and with them every request of their worker.
So nobody waits here: what cannot be written at once is kept for a moment, and if that is too much,
it is dropped, counted, and said as soon as somebody reads again.
"""

import _socket
import logging
import os
import select
import stat
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable

from runtime.metrics.registry import Counter

# So much a pipe takes whole, or not at all (POSIX): a line of one worker never breaks another's.
PIECE = 4096
MOST_KEPT = 4 * 1024 * 1024
# A worker that stops waits for a slow reader for so long.
FAREWELL_SECONDS = 1.0

dropped_records = Counter(
    "log_records_dropped", "Log records that were lost because nobody read standard error."
)


class StderrWriter:
    def __init__(self, file: int) -> None:
        self._send, end = _sender(file)
        # The file it opened for itself, not before the process has said its last.
        weakref.finalize(self, end).atexit = False
        self._lock = threading.RLock()
        self._pieces: deque[bytes] = deque()
        self._kept = self._dropped = 0

    def write(self, lines: Iterable[bytes]) -> None:
        """Each with its end."""
        with self._lock:
            for piece in _pieces(lines):
                self._keep(piece)
            self.flush()

    def flush(self) -> None:
        """As much as is taken at once."""
        with self._lock:
            is_read = bool(self._pieces)
            while self._pieces and is_read:
                is_read = self._send_next()
            if is_read and self._dropped:
                dropped, self._dropped = self._dropped, 0
                logger.warning("%s log records were lost: nobody read them.", dropped)

    def close(self) -> None:
        until = time.monotonic() + FAREWELL_SECONDS
        self.flush()
        while self._pieces and time.monotonic() < until:
            time.sleep(0.01)
            self.flush()

    def _send_next(self) -> bool:
        piece = self._pieces.popleft()
        self._kept -= len(piece)
        try:
            rest = piece[self._send(piece) :]
        except OSError:
            # A disk that is full, or a pipe whose reader is gone.
            self._drop(piece)
            return False
        if rest:
            self._pieces.appendleft(rest)
            self._kept += len(rest)
        return not rest

    def _keep(self, piece: bytes) -> None:
        if self._kept + len(piece) > MOST_KEPT:
            self._drop(piece)
            return
        self._pieces.append(piece)
        self._kept += len(piece)

    def _drop(self, piece: bytes) -> None:
        lines = piece.count(b"\n")
        self._dropped += lines
        dropped_records.add(amount=lines)


class StderrHandler(logging.Handler):
    """Records of Python's logging are rare, and leave at once."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            stderr_writer.write([f"{self.format(record)}\n".encode(errors="backslashreplace")])
        # A record that cannot be told must not become anybody's answer.
        except Exception:
            self.handleError(record)


def _pieces(lines: Iterable[bytes]) -> list[bytes]:
    """As many lines together as a pipe takes whole."""
    pieces: list[bytes] = []
    together: list[bytes] = []
    size = 0
    for line in lines:
        if together and size + len(line) > PIECE:
            pieces.append(b"".join(together))
            together, size = [], 0
        together.append(line)
        size += len(line)
    if together:
        pieces.append(b"".join(together))
    return pieces


def _sender(file: int) -> tuple[Callable[[bytes], int], Callable[[], object]]:
    """What takes bytes without waiting, and says how many; and what ends it. The file itself is
    never switched to this manner: other processes write into it as well, and would stumble."""
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return lambda piece: os.write(file, piece), bool
    if stat.S_ISSOCK(mode):
        # Not gevent's, which would switch the file, and wait.
        connection = _socket.socket(fileno=os.dup(file))
        return (
            lambda piece: _or_nothing(lambda: connection.send(piece, _socket.MSG_DONTWAIT)),
            connection.close,
        )
    try:
        # The same pipe or terminal, opened once more.
        own = os.open(f"/proc/self/fd/{file}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return lambda piece: _where_there_is_room(file, piece), bool
    return lambda piece: _or_nothing(lambda: os.write(own, piece)), lambda: os.close(own)


def _or_nothing(send: Callable[[], int]) -> int:
    try:
        return send()
    except BlockingIOError:
        return 0


def _where_there_is_room(file: int, piece: bytes) -> int:
    poll = select.poll()
    poll.register(file, select.POLLOUT)
    return os.write(file, piece[:PIECE]) if poll.poll(0) else 0


logger = logging.getLogger(__name__)
stderr_writer = StderrWriter(sys.__stderr__.fileno() if sys.__stderr__ else 2)
