"""Write log records to standard error without ever blocking.

A write to a full pipe blocks until the reader continues, and with it every request of the worker.
So what can't be written immediately is buffered. Records beyond the buffer's limit are dropped and
counted; a warning reports their number as soon as writing works again.
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

# POSIX writes up to PIPE_BUF bytes to a pipe atomically, so lines of several workers don't mix.
CHUNK_BYTES = 4096
MAX_BUFFERED_BYTES = 4 * 1024 * 1024
# How long a worker that stops waits for a slow reader.
CLOSE_TIMEOUT = 1.0


class StderrWriter:
    def __init__(self, file: int) -> None:
        self._send, close = _open_sender(file)
        # Closes what _open_sender opened, but not at exit: the process may still log.
        weakref.finalize(self, close).atexit = False
        self._lock = threading.RLock()
        self._chunks: deque[bytes] = deque()
        self._buffered_bytes = self._dropped = self._uncounted = 0

    def write(self, lines: Iterable[bytes]) -> None:
        """Write lines, each of which ends with a newline."""
        with self._lock:
            for chunk in _join_lines(lines):
                self._buffer(chunk)
            self.flush()

    def flush(self) -> None:
        """Write as much as possible without blocking."""
        with self._lock:
            is_writable = bool(self._chunks)
            while self._chunks and is_writable:
                is_writable = self._send_next()
            if is_writable and self._dropped:
                dropped, self._dropped = self._dropped, 0
                logger.warning("Dropped %s log records: standard error was not read", dropped)

    def take_dropped(self) -> int:
        """Return how many lines were dropped since the last call."""
        dropped, self._uncounted = self._uncounted, 0
        return dropped

    def close(self) -> None:
        deadline = time.monotonic() + CLOSE_TIMEOUT
        self.flush()
        while self._chunks and time.monotonic() < deadline:
            time.sleep(0.01)
            self.flush()

    def _send_next(self) -> bool:
        """Return whether a whole chunk was written."""
        chunk = self._chunks.popleft()
        self._buffered_bytes -= len(chunk)
        try:
            rest = chunk[self._send(chunk) :]
        except OSError:
            # The disk is full, or the pipe's reader is gone.
            self._drop(chunk)
            return False
        if rest:
            self._chunks.appendleft(rest)
            self._buffered_bytes += len(rest)
        return not rest

    def _buffer(self, chunk: bytes) -> None:
        if self._buffered_bytes + len(chunk) > MAX_BUFFERED_BYTES:
            self._drop(chunk)
            return
        self._chunks.append(chunk)
        self._buffered_bytes += len(chunk)

    def _drop(self, chunk: bytes) -> None:
        lines = chunk.count(b"\n")
        self._dropped += lines
        self._uncounted += lines


class StderrHandler(logging.Handler):
    """Write each record immediately: unlike access records, they are rare."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            stderr_writer.write([f"{self.format(record)}\n".encode(errors="backslashreplace")])
        # A failure to log must not fail the request.
        except Exception:
            self.handleError(record)


def _join_lines(lines: Iterable[bytes]) -> list[bytes]:
    """Join lines to chunks that are written to a pipe atomically."""
    chunks: list[bytes] = []
    chunk: list[bytes] = []
    size = 0
    for line in lines:
        if chunk and size + len(line) > CHUNK_BYTES:
            chunks.append(b"".join(chunk))
            chunk, size = [], 0
        chunk.append(line)
        size += len(line)
    if chunk:
        chunks.append(b"".join(chunk))
    return chunks


def _open_sender(file: int) -> tuple[Callable[[bytes], int], Callable[[], object]]:
    """Return a function that writes without blocking, and one that closes what this one opened.

    The first returns the number of bytes written. The file descriptor itself is never made
    non-blocking: other processes share it, and their writes would fail.
    """
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return lambda chunk: os.write(file, chunk), _do_nothing
    if stat.S_ISSOCK(mode):
        # gevent's socket class would make the descriptor non-blocking, and wait.
        connection = _socket.socket(fileno=os.dup(file))
        return (
            lambda chunk: _zero_if_blocked(lambda: connection.send(chunk, _socket.MSG_DONTWAIT)),
            connection.close,
        )
    try:
        # Reopening the pipe or terminal creates a file description whose flags aren't shared.
        reopened = os.open(f"/proc/self/fd/{file}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return lambda chunk: _write_if_writable(file, chunk), _do_nothing
    return lambda chunk: _zero_if_blocked(lambda: os.write(reopened, chunk)), lambda: os.close(
        reopened
    )


def _do_nothing() -> None:
    pass


def _zero_if_blocked(send: Callable[[], int]) -> int:
    try:
        return send()
    except BlockingIOError:
        return 0


def _write_if_writable(file: int, chunk: bytes) -> int:
    poll = select.poll()
    poll.register(file, select.POLLOUT)
    return os.write(file, chunk[:CHUNK_BYTES]) if poll.poll(0) else 0


logger = logging.getLogger(__name__)
stderr_writer = StderrWriter(sys.__stderr__.fileno() if sys.__stderr__ else 2)
