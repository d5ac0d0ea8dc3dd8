"""Write log lines to standard error in a thread, so that no request ever waits for its reader.

This is what logging's QueueHandler and QueueListener do, with two differences. Under gevent, a
listener's thread would be a greenlet, and its write to a full pipe would block the whole worker:
this thread and its queue are native. And the queue is bounded: lines beyond its limit are dropped
and counted, as are those that can't be written. runtime/flusher.py reports their number.
"""

import _thread
import logging
import os
import sys
from _queue import Empty, SimpleQueue
from collections.abc import Callable, Iterable
from contextlib import suppress

# POSIX writes up to PIPE_BUF bytes to a pipe atomically, so lines of several processes don't mix.
CHUNK_BYTES = 4096
MAX_QUEUED_BYTES = 4 * 1024 * 1024
# How long a process that ends waits for a slow reader.
FLUSH_TIMEOUT = 1.0


class StderrWriter:
    def __init__(self, file: int) -> None:
        self._file = file
        self.start_over()

    def start_over(self) -> None:
        """Forget lines and thread, in a forked process: the parent process has them."""
        # A queue in the queue gets an item as soon as all lines before it are written.
        self._queue: SimpleQueue[bytes | SimpleQueue[None]] = SimpleQueue()
        self._has_thread = False
        # Each number is updated by one thread only, so that no update is lost.
        self._queued_bytes = self._written_bytes = 0
        self._refused_lines = self._failed_lines = 0
        # Whether the last write has failed or is still waiting for the reader.
        self.is_blocked = False

    @property
    def dropped_lines(self) -> int:
        """How many lines were dropped so far."""
        return self._refused_lines + self._failed_lines

    def write(self, lines: Iterable[bytes]) -> None:
        """Queue lines, each of which ends with a newline."""
        for line in lines:
            if self._queued_bytes - self._written_bytes > MAX_QUEUED_BYTES:
                self._refused_lines += 1
            else:
                self._queued_bytes += len(line)
                self._queue.put(line)
        if not self._has_thread:
            self._has_thread = True
            _start_native_thread(self._write_forever)

    def flush(self) -> None:
        """Wait until all lines are written, or a slow reader has had FLUSH_TIMEOUT."""
        if self._has_thread:
            written: SimpleQueue[None] = SimpleQueue()
            self._queue.put(written)
            with suppress(Empty):
                written.get(timeout=FLUSH_TIMEOUT)

    def _write_forever(self) -> None:
        """Write what is queued, in a native thread, which mustn't log or use anything of gevent.

        A busy worker lets it run only once every few milliseconds, so each write joins lines.
        """
        while True:
            items = [self._queue.get() for _ in range(max(1, self._queue.qsize()))]
            for chunk in _join(item for item in items if isinstance(item, bytes)):
                self._write_chunk(chunk)
            for item in items:
                if not isinstance(item, bytes):
                    item.put(None)

    def _write_chunk(self, chunk: bytes) -> None:
        self.is_blocked, rest = True, chunk
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            self.is_blocked = False
        except OSError:
            # The disk is full, or the pipe's reader is gone.
            self._failed_lines += rest.count(b"\n")
        self._written_bytes += len(chunk)


class StderrHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            # Formatted here, as the ids of the request are those of the current context.
            stderr_writer.write([f"{self.format(record)}\n".encode(errors="backslashreplace")])
        # A failure to log must not fail the request.
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        """Wait for the last lines: logging calls this at exit."""
        stderr_writer.flush()


def _join(lines: Iterable[bytes]) -> list[bytes]:
    """Join lines to chunks that are written to a pipe atomically."""
    chunks = [b""]
    for line in lines:
        if len(chunks[-1]) + len(line) > CHUNK_BYTES:
            chunks.append(b"")
        chunks[-1] += line
    return [chunk for chunk in chunks if chunk]


def _start_native_thread(function: Callable[[], None]) -> None:
    start = _thread.start_new_thread
    if monkey := sys.modules.get("gevent.monkey"):
        start = monkey.get_original("_thread", "start_new_thread")
    start(function, ())


stderr_writer = StderrWriter(sys.__stderr__.fileno() if sys.__stderr__ else 2)
os.register_at_fork(after_in_child=stderr_writer.start_over)
