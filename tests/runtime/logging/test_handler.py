"""Writing logs never blocks, whether or not standard error is read."""

import fcntl
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from runtime.flusher import Flusher
from runtime.logging import access_log, handler
from runtime.logging.handler import CHUNK_BYTES, MAX_QUEUED_BYTES, StderrWriter
from tests.servers.product import ROOT
from tests.support.metrics import Increases
from tests.support.waiting import wait_until

LINE = b"x" * 299 + b"\n"


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with suppress(OSError):
            os.close(end)


@pytest.fixture
def unread(pipe: tuple[int, int]) -> Iterator[StderrWriter]:
    """A writer that waits for the reader of a full pipe."""
    stderr = StderrWriter(pipe[1])
    while not stderr.is_blocked:
        stderr.write([LINE] * 1000)
        time.sleep(0.1)
    yield stderr
    # Lets its thread fail instead of waiting for a reader that never comes.
    os.close(pipe[0])
    stderr.flush()


@pytest.fixture
def flusher() -> Iterator[Flusher]:
    # Records of requests of earlier tests would also be written.
    access_log.take_records()
    yield Flusher("web")
    access_log.configure(writes_lines=False)


def read_all(end: int, stderr: StderrWriter) -> bytes:
    """Read until everything that is queued has been written."""
    os.set_blocking(end, False)
    content = b""
    is_written = False
    while not is_written:
        is_written = stderr._written_bytes == stderr._queued_bytes
        with suppress(BlockingIOError):
            while chunk := os.read(end, 65536):
                content += chunk
        time.sleep(0.001)
    return content


def test_full_pipe_does_not_block(pipe: tuple[int, int], unread: StderrWriter) -> None:
    """If a write blocked, this test would hang."""
    for _ in range(100):
        unread.write([LINE] * 10)
    content = read_all(pipe[0], unread)
    assert set(content.split(b"\n")) == {LINE[:-1], b""}
    assert content.count(LINE) >= 2000
    assert unread.dropped_lines == 0


def test_records_beyond_the_limit_are_dropped_counted_and_reported(
    pipe: tuple[int, int],
    unread: StderrWriter,
    flusher: Flusher,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.flusher.stderr_writer", unread)
    increases = Increases()
    unread.write([LINE] * (MAX_QUEUED_BYTES // len(LINE)))
    before = unread.dropped_lines
    unread.write([LINE] * 100)
    dropped = unread.dropped_lines
    assert dropped - before == 100
    flusher.flush()
    assert increases.of("log_records_dropped_total") == {(): dropped}
    assert not caplog.records
    assert read_all(pipe[0], unread).count(LINE) > MAX_QUEUED_BYTES // len(LINE)
    for _ in range(2):
        flusher.flush()
    assert increases.of("log_records_dropped_total") == {(): dropped}
    assert caplog.messages == [f"Dropped {dropped} log records: standard error was not read"]


def test_flags_of_the_shared_pipe_are_not_changed(pipe: tuple[int, int]) -> None:
    before = fcntl.fcntl(pipe[1], fcntl.F_GETFL)
    stderr = StderrWriter(pipe[1])
    stderr.write([LINE])
    stderr.flush()
    assert fcntl.fcntl(pipe[1], fcntl.F_GETFL) == before


def test_full_socket_does_not_block() -> None:
    writer, reader = socket.socketpair()
    with reader, writer:
        stderr = StderrWriter(writer.fileno())
        for _ in range(1000):
            stderr.write([LINE] * 10)
        wait_until(lambda: stderr.is_blocked)
        assert writer.getblocking()
        assert reader.recv(300) == LINE
        reader.shutdown(socket.SHUT_RD)
        stderr.flush()


def test_records_for_a_closed_pipe_are_counted_and_not_reported_to_it(
    flusher: Flusher, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    stderr = StderrWriter(writer)
    monkeypatch.setattr("runtime.flusher.stderr_writer", stderr)
    for _ in range(3):
        stderr.write([LINE])
        stderr.flush()
        flusher.flush()
    os.close(writer)
    assert stderr.dropped_lines == 3
    assert not caplog.messages


def test_lines_are_written_in_chunks_that_a_pipe_takes_whole(pipe: tuple[int, int]) -> None:
    assert all(len(chunk) <= CHUNK_BYTES for chunk in handler._join([LINE] * 1000))
    long = b"y" * 3 * CHUNK_BYTES + b"\n"
    stderr = StderrWriter(pipe[1])
    stderr.write([LINE, long, LINE])
    assert read_all(pipe[0], stderr) == LINE + long + LINE


PATCH = "from gevent import monkey; monkey.patch_all()"
SETUP = """
import logging, os, sys, time
from logging.config import dictConfig
from runtime.logging.dict_config import log_settings
from runtime.logging.handler import stderr_writer
dictConfig(log_settings("INFO", "text"))
"""


def start(code: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("patch", ["", PATCH], ids=["threads", "gevent"])
def test_process_that_ends_writes_its_last_lines(patch: str) -> None:
    code = f"{patch}{SETUP}\nfor number in range(5000): logging.info('Line %s', number)"
    with start(code) as process:
        lines = process.communicate()[1].splitlines()
    assert [int(line.rpartition(b" ")[2]) for line in lines] == [*range(5000)]


@pytest.mark.parametrize("patch", ["", PATCH], ids=["threads", "gevent"])
def test_unread_pipe_blocks_neither_other_threads_nor_the_end_of_the_process(patch: str) -> None:
    code = f"""{patch}{SETUP}
import threading
thread = threading.Thread(target=lambda: time.sleep(0.2) or print("ran", flush=True))
thread.start()
for number in range(5000): logging.info('Line %s', number)
thread.join()
print(stderr_writer.is_blocked, flush=True)
"""
    with start(code) as process:
        started = time.monotonic()
        assert process.stdout
        assert process.stdout.read() == b"ran\nTrue\n"
        process.wait(60)
        assert process.returncode == 0
        assert time.monotonic() - started < 8


@pytest.mark.parametrize("patch", ["", PATCH], ids=["threads", "gevent"])
def test_forked_process_writes_its_own_lines_only(patch: str) -> None:
    code = f"""{patch}{SETUP}
logging.info("parent")
if os.fork() == 0:
    logging.info("child")
else:
    os.wait()
    logging.info("parent again")
"""
    with start(code) as process:
        lines = process.communicate()[1].splitlines()
    texts = sorted(line.rpartition(b"] ")[2] for line in lines)
    assert texts == [b"child", b"parent", b"parent again"]
