"""Read an uploaded file in a process of its own, with limits for memory and CPU time.

with FileReader(file) as reader:
    print(reader.format)
    for rows in reader.batches():
        ...
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, BinaryIO, Self, cast

import orjson

from validation.lists.files.errors import UnreadableFile
from validation.lists.files.formats import NO_HINTS, FileFormat, Hints, Kind
from validation.lists.files.frames import Frame, FrameReader

logger = logging.getLogger(__name__)

_COMMAND = (sys.executable, "-m", "validation.lists.files")
_ROOT = Path(__file__).parents[3]
# Everything else stays out of the process, above all the secrets.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
# Fewer switches between the two processes.
_PIPE_SIZE = 1 << 20
# Rust aborts if it gets no memory, and the kernel kills if the machine has none left.
_OUT_OF_MEMORY = (-signal.SIGABRT, -signal.SIGKILL, -signal.SIGSEGV)


@dataclass(frozen=True, slots=True)
class Limits:
    memory: int = 1 << 30
    cpu_seconds: int = 600
    # Until the next rows. XLSX files need it all before the first row.
    wait_seconds: float = 900.0


DEFAULT_LIMITS = Limits()


class FileReader:
    """The rows of a file. Leaving the context ends the process."""

    format: FileFormat

    def __init__(
        self, file: BinaryIO, hints: Hints = NO_HINTS, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        """Prepare to read a seekable file with a descriptor, such as a TemporaryFile."""
        self._file = file
        self._wait_seconds = limits.wait_seconds
        self._settings = {
            "hints": asdict(hints),
            "memory": limits.memory,
            "cpu_seconds": limits.cpu_seconds,
        }

    def __enter__(self) -> Self:
        self._file.flush()
        self._process = subprocess.Popen(
            [*_COMMAND, orjson.dumps(self._settings).decode()],
            cwd=_ROOT,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            stdin=self._file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pipesize=_PIPE_SIZE,
        )
        self._stdout = cast(IO[bytes], self._process.stdout)
        self._frames = FrameReader(self._stdout.fileno(), self._wait_seconds)
        try:
            self.format = _to_format(self._read_frame()["format"])
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def batches(self) -> Iterator[list[list[str]]]:
        """Yield up to 1,000 rows at a time. Only a file read to its end ends the iteration."""
        while "end" not in (frame := self._read_frame()):
            yield frame["rows"]

    def _read_frame(self) -> Frame:
        try:
            frame = self._frames.read()
        except TimeoutError:
            raise UnreadableFile("took_too_long") from None
        except EOFError:
            raise self._explain_end() from None
        except ValueError:
            logger.error("The process that reads files wrote something else than frames")
            raise UnreadableFile("reading_failed") from None
        if "failed" in frame:
            logger.error("The process that reads files failed: %s", frame["failed"])
            raise UnreadableFile("reading_failed")
        if "unreadable" in frame:
            raise UnreadableFile(frame["unreadable"], **frame["details"])
        return frame

    def _explain_end(self) -> UnreadableFile:
        code = self._process.wait()
        if code in _OUT_OF_MEMORY:
            return UnreadableFile("out_of_memory")
        if code == -signal.SIGXCPU:
            return UnreadableFile("took_too_long")
        logger.error("The process that reads files ended with code %s", code)
        return UnreadableFile("reading_failed")

    def _stop(self) -> None:
        self._process.kill()
        self._stdout.close()
        self._process.wait()


def _to_format(fields: Frame) -> FileFormat:
    return FileFormat(**fields | {"kind": Kind(fields["kind"]), "sheets": tuple(fields["sheets"])})
