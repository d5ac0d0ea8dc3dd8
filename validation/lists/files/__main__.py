"""The process that reads an uploaded file from standard input and writes its rows as frames.

Started by `process.py`, with its settings as JSON. A hostile file can at worst end this process.
"""

import ctypes
import gc
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from itertools import islice

import orjson

from validation.lists.files.errors import UnreadableFile
from validation.lists.files.formats import Hints, detect_format
from validation.lists.files.frames import MAX_FRAME_SIZE, Frame, pack
from validation.lists.files.rows import read_rows

_BATCH_SIZE = 1000
_MAX_OPEN_FILES = 32
# Each write wakes the parent, which takes the CPU from this process.
_OUTPUT_BUFFER_SIZE = 512 << 10
# From linux/prctl.h.
_PR_SET_PDEATHSIG = 1


def main(settings: Frame) -> None:
    _limit(settings)
    # Rows hold no cycles, so looking for some only takes time.
    gc.disable()
    try:
        with os.fdopen(sys.stdout.fileno(), "wb", _OUTPUT_BUFFER_SIZE) as output:
            for frame in _frames(Hints(**settings["hints"])):
                output.write(frame)
    except BrokenPipeError:
        # The parent has stopped reading.
        sys.exit(1)


def _frames(hints: Hints) -> Iterator[bytes]:
    """Yield the format, the rows, and how it ended."""
    try:
        yield from _read(hints)
    except UnreadableFile as error:
        yield pack({"unreadable": error.code, "details": error.details})
    except MemoryError:
        yield pack({"unreadable": "out_of_memory", "details": {}})
    except GeneratorExit:
        raise
    # A panic of calamine is no Exception.
    except BaseException as error:
        yield pack({"failed": _describe(error)})


def _limit(settings: Frame) -> None:
    """Limit what this process may use. It writes no files, and no core dumps with addresses."""
    # A service manager stops all processes of a service. The parent decides when this one ends.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Or a parent that is killed would leave this process at work until it writes again.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_AS, (settings["memory"], settings["memory"]))
    cpu_seconds = settings["cpu_seconds"]
    # At the first limit the kernel sends SIGXCPU, which `process.py` can tell from other ends.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MAX_OPEN_FILES, _MAX_OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(hints: Hints) -> Iterator[bytes]:
    stream = sys.stdin.buffer
    file_format = detect_format(stream, hints)
    yield pack({"format": file_format})
    rows, count = read_rows(stream, file_format), 0
    while batch := list(islice(rows, _BATCH_SIZE)):
        count += len(batch)
        yield from _pack_rows(batch)
    if not count:
        raise UnreadableFile("no_rows")
    yield pack({"end": count})


def _pack_rows(rows: list[list[str]]) -> Iterator[bytes]:
    """Pack the rows in one frame, or in several if it would be too large for the reader."""
    frame = pack({"rows": rows})
    if len(frame) <= MAX_FRAME_SIZE:
        yield frame
        return
    if len(rows) == 1:
        raise UnreadableFile("row_too_long")
    half = len(rows) // 2
    yield from _pack_rows(rows[:half])
    yield from _pack_rows(rows[half:])


def _describe(error: BaseException) -> str:
    """Return where a bug is. The message of an exception may contain addresses."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {frame.name}, line {frame.lineno}"


if __name__ == "__main__":
    main(orjson.loads(sys.argv[1]))
