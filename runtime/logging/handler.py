"""Write log lines in a thread, so that no request waits.

Unlike QueueListener's, it is native: under gevent, a full pipe would block the worker.
"""

import _thread
import logging
import os
import sys
from _queue import Empty, SimpleQueue
from collections.abc import Callable, Iterable
from contextlib import suppress

# POSIX writes this much to a pipe atomically, so lines don't mix.
CHUNK_BYTES = 4096
MAX_QUEUED_BYTES = 4 * 1024 * 1024
FLUSH_TIMEOUT = 1.0


class StderrWriter:
    def __init__(self, file: int) -> None:
        self._file = file
        self.start_over()

    def start_over(self) -> None:
        """Start empty after a fork: lines and thread are the parent's."""
        # An inner queue gets an item once all lines before it are written.
        self._queue: SimpleQueue[bytes | SimpleQueue[None]] = SimpleQueue()
        self._has_thread = False
        # One thread updates each, so no update is lost.
        self._queued_bytes = self._written_bytes = 0
        self._refused_lines = self._failed_lines = 0
        self.is_blocked = False

    @property
    def dropped_lines(self) -> int:
        return self._refused_lines + self._failed_lines

    def write(self, lines: Iterable[bytes]) -> None:
        # Each item wakes the thread up, which takes longer than joining lines.
        for chunk in _join(lines):
            if self._queued_bytes - self._written_bytes > MAX_QUEUED_BYTES:
                self._refused_lines += chunk.count(b"\n")
            else:
                self._queued_bytes += len(chunk)
                self._queue.put(chunk)
        if not self._has_thread:
            self._has_thread = True
            _start_native_thread(self._write_forever)

    def flush(self) -> None:
        if self._has_thread:
            written: SimpleQueue[None] = SimpleQueue()
            self._queue.put(written)
            with suppress(Empty):
                written.get(timeout=FLUSH_TIMEOUT)

    def _write_forever(self) -> None:
        """A native thread mustn't log or use gevent."""
        while True:
            item = self._queue.get()
            if isinstance(item, bytes):
                self._write_chunk(item)
            else:
                item.put(None)

    def _write_chunk(self, chunk: bytes) -> None:
        self.is_blocked, rest = True, chunk
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            self.is_blocked = False
        except OSError:
            self._failed_lines += rest.count(b"\n")
        self._written_bytes += len(chunk)


class StderrHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            # Formatting needs the request's context.
            stderr_writer.write([f"{self.format(record)}\n".encode(errors="backslashreplace")])
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        stderr_writer.flush()


def _join(lines: Iterable[bytes]) -> list[bytes]:
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
