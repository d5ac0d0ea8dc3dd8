"""Writing logs never blocks, whether or not standard error is read."""

import fcntl
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from runtime.logging import handler
from runtime.logging.handler import CHUNK_BYTES, MAX_BUFFERED_BYTES, StderrWriter

LINE = b"x" * 299 + b"\n"


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with suppress(OSError):
            os.close(end)


def refuse(*_: object) -> int:
    raise OSError("There is no /proc here.")


def read_all(end: int) -> bytes:
    """Read until nothing more is available."""
    os.set_blocking(end, False)
    content = b""
    with suppress(BlockingIOError):
        while chunk := os.read(end, 65536):
            content += chunk
    return content


@pytest.mark.parametrize("reopens", [True, False], ids=["reopened", "polled"])
def test_full_pipe_does_not_block(
    pipe: tuple[int, int], reopens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a write blocked, this test would hang."""
    if not reopens:
        monkeypatch.setattr("os.open", refuse)
    stderr = StderrWriter(pipe[1])
    for _ in range(1000):
        stderr.write([LINE] * 10)
    monkeypatch.undo()
    first = read_all(pipe[0])
    stderr.flush()
    both = first + read_all(pipe[0])
    assert set(both.split(b"\n")) == {LINE[:-1], b""}
    assert len(both) > len(first) > 0


def test_records_beyond_the_buffer_are_dropped_counted_and_reported(
    pipe: tuple[int, int], caplog: pytest.LogCaptureFixture
) -> None:
    stderr = StderrWriter(pipe[1])
    lines = 2 * MAX_BUFFERED_BYTES // len(LINE)
    for _ in range(lines // 100):
        stderr.write([LINE] * 100)
    assert not caplog.records
    read = len(read_all(pipe[0]))
    stderr.flush()
    while content := read_all(pipe[0]):
        read += len(content)
        stderr.flush()
    dropped = lines // 100 * 100 - read // len(LINE)
    assert dropped > 0
    assert stderr.take_dropped() == dropped
    assert caplog.messages == [f"Dropped {dropped} log records: standard error was not read"]


def test_flags_of_the_shared_pipe_are_not_changed(pipe: tuple[int, int]) -> None:
    before = fcntl.fcntl(pipe[1], fcntl.F_GETFL)
    StderrWriter(pipe[1]).write([LINE])
    assert fcntl.fcntl(pipe[1], fcntl.F_GETFL) == before


def test_full_socket_does_not_block() -> None:
    writer, reader = socket.socketpair()
    with writer, reader:
        stderr = StderrWriter(writer.fileno())
        for _ in range(3000):
            stderr.write([LINE] * 10)
        assert writer.getblocking()
        assert reader.recv(300) == LINE


def test_records_for_a_closed_pipe_are_counted() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    stderr = StderrWriter(writer)
    for _ in range(3):
        stderr.write([LINE])
    stderr.close()
    os.close(writer)
    assert stderr.take_dropped() == 3


def test_lines_are_written_in_chunks_that_a_pipe_takes_whole(pipe: tuple[int, int]) -> None:
    assert all(len(chunk) <= CHUNK_BYTES for chunk in handler._join_lines([LINE] * 1000))
    long = b"y" * 3 * CHUNK_BYTES + b"\n"
    StderrWriter(pipe[1]).write([LINE, long, LINE])
    assert read_all(pipe[0]) == LINE + long + LINE


def test_several_processes_can_write_to_one_file(tmp_path: Path) -> None:
    file = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    for stderr in (StderrWriter(file), StderrWriter(os.dup(file))):
        stderr.write([LINE])
    assert (tmp_path / "log").read_bytes() == 2 * LINE
    os.close(file)


def test_record_with_a_lone_surrogate_is_escaped_and_written(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "stderr_writer", StderrWriter(pipe[1]))
    record = logging.LogRecord("test", logging.ERROR, "", 1, "half \ud800 a pair", None, None)
    handler.StderrHandler().emit(record)
    assert read_all(pipe[0]) == b"half \\ud800 a pair\n"
