"""The process that reads files: its rows, its limits and its end."""

import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from lists.files.errors import UnreadableFile
from lists.files.formats import NO_HINTS, Hints
from lists.files.frames import MAX_FRAME_SIZE, FrameReader
from lists.files.process import DEFAULT_PROCESS_LIMITS, ProcessLimits, open_file
from tests.lists.files.spreadsheets import build_table, build_xlsx, claim_size, row_xml
from tests.support.waiting import wait_until

MEGABYTE = 1 << 20


@contextmanager
def stored(data: bytes) -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        yield file


def read(
    data: bytes, hints: Hints = NO_HINTS, limits: ProcessLimits = DEFAULT_PROCESS_LIMITS
) -> list[list[str]]:
    with stored(data) as file, open_file(file, hints, limits) as reader:
        return [row for rows in reader.chunks() for row in rows]


def refuse(data: bytes, limits: ProcessLimits = DEFAULT_PROCESS_LIMITS) -> UnreadableFile:
    with pytest.raises(UnreadableFile) as error:
        read(data, limits=limits)
    return error.value


def is_at_work(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except FileNotFoundError:
        return False


def test_rows_arrive_in_batches_of_a_thousand() -> None:
    data = "".join(f"{number},Jané\n" for number in range(2500)).encode()
    with stored(data) as file, open_file(file) as reader:
        batches = list(reader.chunks())
    assert reader.format.delimiter == ","
    assert [len(rows) for rows in batches] == [1000, 1000, 500]
    assert [row for rows in batches for row in rows] == [[str(n), "Jané"] for n in range(2500)]


def test_hints_reach_the_process() -> None:
    hints = Hints("text/csv; charset=iso-8859-2", ";")
    assert read("ő;b,c\n".encode("iso-8859-2"), hints) == [["ő", "b,c"]]


def test_large_rows_arrive_in_chunks_of_a_megabyte() -> None:
    line = ",".join(["x" * 9_000] * 100)
    rows = read(("a,b\n" + f"{line}\n" * 20).encode())
    assert [len(cells) for cells in rows] == [2, *[100] * 20]


@pytest.mark.parametrize(
    ("data", "code", "details"),
    [
        (b"%PDF-1.7", "pdf", {}),
        (b'a,b\nc,d\n"e,f', "unclosed_quote", {"line": 3}),
        (b"a,b\n" * 3000 + b'"e,f', "unclosed_quote", {"line": 3001}),
        (b",\n,\n", "no_rows", {}),
        (build_xlsx({"Sheet1": ""}), "no_rows", {}),
        (build_table([["a"], ["x" * 1_000_001]]), "row_too_long", {"row": 2, "limit": 1_000_000}),
        (
            b"a,b\n" + b'"x\n",' * 1_001,
            "too_many_columns",
            {"row": 2, "columns": 1_001, "limit": 1_000},
        ),
        (
            build_table([["jane@shop.example", *[""] * 16_382, "x"]]),
            "too_many_columns",
            {"row": 1, "columns": 16_384, "limit": 1_000},
        ),
    ],
)
def test_error_of_the_process_is_raised(data: bytes, code: str, details: dict[str, int]) -> None:
    error = refuse(data)
    assert (error.code, error.details) == (code, details)


def test_spreadsheet_with_two_distant_cells_needs_too_much_memory() -> None:
    """Such a sheet is a few hundred bytes in the file and 17 billion cells in memory."""
    rows = row_xml(1, ["jane@shop.example"])
    rows += '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    assert refuse(build_xlsx({"Sheet1": rows})).code == "out_of_memory"


def test_archive_that_claims_too_small_sizes_is_stopped_by_the_limits() -> None:
    rows = "".join(row_xml(number, ["x" * 1000]) for number in range(1, 30_001))
    data = claim_size(build_xlsx({"Sheet1": rows}), 1000)
    error = refuse(data, replace(DEFAULT_PROCESS_LIMITS, memory=60 * MEGABYTE))
    assert error.code in ("out_of_memory", "damaged_spreadsheet")


def test_memory_limit_is_an_error_of_its_own() -> None:
    rows = [[f"jane{number}@shop.example", "x" * 20_000] for number in range(2_000)]
    error = refuse(build_table(rows), replace(DEFAULT_PROCESS_LIMITS, memory=60 * MEGABYTE))
    assert error.code == "out_of_memory"
    assert "Save it as CSV" in error.message


def test_cpu_limit_ends_the_process() -> None:
    error = refuse(b"a,b\n" + b"\n" * 40_000_000, replace(DEFAULT_PROCESS_LIMITS, cpu_seconds=1))
    assert error.code == "took_too_long"


def test_silent_process_is_given_up() -> None:
    with stored(b"a,b\n" * 2_000_000) as file, open_file(file) as reader:
        os.kill(reader._process.pid, signal.SIGSTOP)
        reader._frames._wait_seconds = 0.2
        with pytest.raises(UnreadableFile) as error:
            list(reader.chunks())
    assert error.value.code == "took_too_long"
    assert not is_at_work(reader._process.pid)


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGKILL, "out_of_memory"), (signal.SIGUSR1, "reading_failed")]
)
def test_killed_process_is_an_error_and_no_short_list(
    sent: signal.Signals, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    with stored(b"a,b\n" * 2_000_000) as file, open_file(file) as reader:
        batches = reader.chunks()
        next(batches)
        os.kill(reader._process.pid, sent)
        with caplog.at_level(logging.ERROR), pytest.raises(UnreadableFile) as error:
            list(batches)
    assert error.value.code == code
    assert ("ended with code -10" in caplog.text) is (code == "reading_failed")


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_only_its_parent_stops_the_process(stop: signal.Signals) -> None:
    """Otherwise a deployment would look like a file that can't be read."""
    with stored(b"a,b\n" * 100_000) as file, open_file(file) as reader:
        os.kill(reader._process.pid, stop)
        assert sum(map(len, reader.chunks())) == 100_000


def test_bug_in_the_process_is_logged_without_its_data(caplog: pytest.LogCaptureFixture) -> None:
    read_end, write_end = os.pipe()
    os.close(write_end)
    with (
        os.fdopen(read_end, "rb") as pipe,
        caplog.at_level(logging.ERROR),
        pytest.raises(UnreadableFile) as error,
        # A pipe can't seek, which the process doesn't expect.
        open_file(pipe),
    ):
        pass
    assert error.value.code == "reading_failed"
    assert "failed: UnsupportedOperation in " in caplog.text


def test_leaving_early_ends_the_process() -> None:
    with stored(b"a,b\n" * 2_000_000) as file, open_file(file) as reader:
        next(reader.chunks())
    assert not is_at_work(reader._process.pid)


def test_process_ends_if_its_reader_is_gone() -> None:
    with stored(b"a,b\n" * 2_000_000) as file, open_file(file) as reader:
        assert reader._process.stdout is not None
        reader._process.stdout.close()
        assert reader._process.wait(timeout=60) != 0


def test_process_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_bytes(b"a,b\n" * 2_000_000)
    code = (
        "import sys, time; from lists.files.process import open_file\n"
        f"context = open_file(open({str(path)!r}, 'rb'))\n"
        "reader = context.__enter__()\n"
        "print(reader._process.pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        # A stopped process doesn't notice that its pipe is closed.
        os.kill(pid, signal.SIGSTOP)
        parent.kill()
    wait_until(lambda: not is_at_work(pid))


def test_process_knows_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "not-for-the-child")
    with stored(b"a,b\n" * 2_000_000) as file, open_file(file) as reader:
        environment = Path(f"/proc/{reader._process.pid}/environ").read_bytes()
        limits = Path(f"/proc/{reader._process.pid}/limits").read_text()
    names = {entry.partition(b"=")[0] for entry in environment.split(b"\0") if entry}
    assert names <= {b"PATH", b"PYTHONPATH", b"LD_LIBRARY_PATH"}
    values = {line[:25].strip(): line[25:].split()[0] for line in limits.splitlines()}
    assert values["Max address space"] == str(DEFAULT_PROCESS_LIMITS.memory)
    assert values["Max core file size"] == values["Max file size"] == "0"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", EOFError),
        (b"\0\0", EOFError),
        (b"\0\0\0\x09{}", EOFError),
        (b"\0\0\0\x02[]", ValueError),
        (b"\0\0\0\x02{]", ValueError),
        ((MAX_FRAME_SIZE + 1).to_bytes(4, "big"), ValueError),
        (b"Traceback (most recent call last):", ValueError),
    ],
)
def test_what_is_no_frame_is_refused(content: bytes, error: type[Exception]) -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb"):
        os.write(write_end, content)
        os.close(write_end)
        with pytest.raises(error):
            FrameReader(read_end, 5.0).read()
