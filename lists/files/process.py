"""Read an uploaded file in a separate process, with limits for memory and CPU time."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

import orjson

from lists.files.errors import UnreadableFile
from lists.files.formats import NO_HINTS, FileFormat, FileKind, Hints
from lists.files.frames import Frame, FrameReader
from lists.files.text_encoding import Confidence

logger = logging.getLogger(__name__)

_COMMAND = (sys.executable, "-m", "lists.files")
_ROOT = Path(__file__).parents[2]
# Other variables may have secrets.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
_PIPE_SIZE = 1 << 20
# Rust aborts if it gets no memory. The kernel kills if the machine has none left.
_OUT_OF_MEMORY = (-signal.SIGABRT, -signal.SIGKILL, -signal.SIGSEGV)


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    memory: int = 1 << 30
    cpu_seconds: int = 600
    # The time until the next rows. XLSX files are read completely first.
    wait_seconds: float = 240.0


DEFAULT_PROCESS_LIMITS = ProcessLimits()


class FileReader:
    def __init__(self, process: "subprocess.Popen[bytes]", wait_seconds: float) -> None:
        self._process = process
        self._frames = FrameReader(cast(IO[bytes], process.stdout).fileno(), wait_seconds)
        fields = self._read_frame()["format"]
        fields |= {"kind": FileKind(fields["kind"]), "sheets": tuple(fields["sheets"])}
        fields["encoding_confidence"] = Confidence(fields["encoding_confidence"])
        self.format = FileFormat(**fields)

    def chunks(self) -> Iterator[list[list[str]]]:
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


@contextmanager
def open_file(
    file: BinaryIO, hints: Hints = NO_HINTS, limits: ProcessLimits = DEFAULT_PROCESS_LIMITS
) -> Iterator[FileReader]:
    """Start a process that reads a seekable file, and end it with the context."""
    settings = {"hints": asdict(hints), "memory": limits.memory, "cpu_seconds": limits.cpu_seconds}
    file.flush()
    with subprocess.Popen(
        [*_COMMAND, orjson.dumps(settings).decode()],
        cwd=_ROOT,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        stdin=file,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pipesize=_PIPE_SIZE,
    ) as process:
        try:
            yield FileReader(process, limits.wait_seconds)
        finally:
            process.kill()
