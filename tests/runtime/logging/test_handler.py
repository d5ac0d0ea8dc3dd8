"""Nobody waits for whoever reads the log, or does not."""

import fcntl
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from runtime.logging import handler
from runtime.logging.handler import MOST_KEPT, PIECE, StderrWriter
from runtime.metrics.registry import MetricsSwitch

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
    """Until there is nothing more for now."""
    os.set_blocking(end, False)
    read = b""
    with suppress(BlockingIOError):
        while more := os.read(end, 65536):
            read += more
    return read


@pytest.mark.parametrize("reopens", [True, False], ids=["opened again", "asked first"])
def test_a_pipe_that_nobody_reads_stops_nobody(
    pipe: tuple[int, int], reopens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would stand here for ever."""
    if not reopens:
        monkeypatch.setattr("os.open", refuse)
    out = StderrWriter(pipe[1])
    for _ in range(1000):
        out.write([LINE] * 10)
    monkeypatch.undo()
    first = read_all(pipe[0])
    out.flush()
    both = first + read_all(pipe[0])
    assert set(both.split(b"\n")) == {LINE[:-1], b""}
    assert len(both) > len(first) > 0


def test_what_is_too_much_is_dropped_counted_and_said_when_somebody_reads(
    pipe: tuple[int, int], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MetricsSwitch, "is_on", True)
    out = StderrWriter(pipe[1])
    lines = 2 * MOST_KEPT // len(LINE)
    for _ in range(lines // 100):
        out.write([LINE] * 100)
    assert not caplog.records
    read = len(read_all(pipe[0]))
    out.flush()
    while more := read_all(pipe[0]):
        read += len(more)
        out.flush()
    dropped = lines // 100 * 100 - read // len(LINE)
    assert dropped > 0
    assert handler.dropped_records.take() == {(): dropped}
    assert caplog.messages == [f"{dropped} log records were lost: nobody read them."]


def test_the_pipe_of_other_processes_is_left_as_it_was(pipe: tuple[int, int]) -> None:
    before = fcntl.fcntl(pipe[1], fcntl.F_GETFL)
    StderrWriter(pipe[1]).write([LINE])
    assert fcntl.fcntl(pipe[1], fcntl.F_GETFL) == before


def test_a_socket_that_nobody_reads_stops_nobody() -> None:
    here, there = socket.socketpair()
    with here, there:
        out = StderrWriter(here.fileno())
        for _ in range(3000):
            out.write([LINE] * 10)
        assert here.getblocking()
        assert there.recv(300) == LINE


def test_what_a_reader_who_is_gone_does_not_get_is_counted_and_harms_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MetricsSwitch, "is_on", True)
    reader, writer = os.pipe()
    os.close(reader)
    out = StderrWriter(writer)
    for _ in range(3):
        out.write([LINE])
    out.close()
    os.close(writer)
    assert handler.dropped_records.take() == {(): 3}


def test_lines_leave_in_pieces_that_a_pipe_takes_whole(pipe: tuple[int, int]) -> None:
    assert all(len(piece) <= PIECE for piece in handler._pieces([LINE] * 1000))
    long = b"y" * 3 * PIECE + b"\n"
    StderrWriter(pipe[1]).write([LINE, long, LINE])
    assert read_all(pipe[0]) == LINE + long + LINE


def test_several_processes_write_into_one_file(tmp_path: Path) -> None:
    file = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    for out in (StderrWriter(file), StderrWriter(os.dup(file))):
        out.write([LINE])
    assert (tmp_path / "log").read_bytes() == 2 * LINE
    os.close(file)


def test_a_record_that_cannot_be_written_as_text_is_told_all_the_same(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "stderr_writer", StderrWriter(pipe[1]))
    record = logging.LogRecord("test", logging.ERROR, "", 1, "half \ud800 a pair", None, None)
    handler.StderrHandler().emit(record)
    assert read_all(pipe[0]) == b"half \\ud800 a pair\n"
