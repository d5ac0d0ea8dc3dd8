"""The process that reads a file from standard input and writes its rows as frames.

A hostile file can at worst end this process.
"""

import ctypes
import gc
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator

import orjson

from lists.files.errors import UnreadableFile
from lists.files.formats import Hints, detect_format
from lists.files.frames import Frame, pack
from lists.files.rows import divide_rows, read_rows

_MAX_OPEN_FILES = 32
_OUTPUT_BUFFER_SIZE = 512 << 10
# From linux/prctl.h.
_PR_SET_PDEATHSIG = 1


def main(settings: Frame) -> None:
    limit_resources(settings)
    # Rows have no reference cycles to collect.
    gc.disable()
    try:
        with os.fdopen(sys.stdout.fileno(), "wb", _OUTPUT_BUFFER_SIZE) as output:
            for frame in _frames(Hints(**settings["hints"])):
                output.write(frame)
    except BrokenPipeError:
        sys.exit(1)


def _frames(hints: Hints) -> Iterator[bytes]:
    try:
        stream = sys.stdin.buffer
        file_format = detect_format(stream, hints)
        yield pack({"format": file_format})
        count = 0
        for rows in divide_rows(read_rows(stream, file_format)):
            count += len(rows)
            yield pack({"rows": rows})
        if not count:
            raise UnreadableFile("no_rows")
        yield pack({"end": count})
    except UnreadableFile as error:
        yield pack({"unreadable": error.code, "details": error.details})
    except MemoryError:
        yield pack({"unreadable": "out_of_memory", "details": {}})
    except GeneratorExit:
        raise
    # A panic of calamine is no Exception.
    except BaseException as error:
        # Messages of exceptions may contain addresses.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {frame.name}, line {frame.lineno}"
        yield pack({"failed": where})


def limit_resources(settings: Frame) -> None:
    """Limit memory, CPU time and files. A core dump would contain addresses."""
    # The parent ends this process, not a service manager.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # End with the parent, even if that is killed.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_AS, (settings["memory"], settings["memory"]))
    cpu_seconds = settings["cpu_seconds"]
    # At the first limit the kernel sends SIGXCPU, which `process.py` recognizes.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MAX_OPEN_FILES, _MAX_OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main(orjson.loads(sys.argv[1]))
