"""Capture everything that is logged during a test, formatted as the process writes it."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runtime.logging import access_log
from runtime.logging.formatters import JsonFormatter, LineFormatter


class LogCapture(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._line_formatter = LineFormatter("%(levelname)s %(name)s %(message)s")
        self.setFormatter(JsonFormatter())

    def emit(self, record: logging.LogRecord) -> None:
        self._lines += [self.format(record), self._line_formatter.format(record)]

    @property
    def text(self) -> str:
        """Return all lines so far. Each record appears twice: as a text line and as JSON."""
        for record in access_log.take_records():
            self._lines += [render(record).decode() for render in RENDERERS]
        return "\n".join(line.removesuffix("\n") for line in self._lines)

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def access_records(self) -> list[dict[str, Any]]:
        """Return the parsed JSON records of requests."""
        documents = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [document for document in documents if "status" in document]


RENDERERS = (access_log.json_line, access_log.text_line)


@contextmanager
def capture_logs() -> Iterator[LogCapture]:
    capture = LogCapture()
    root = logging.getLogger()
    level = root.level
    root.addHandler(capture)
    root.setLevel("INFO")
    # Of requests of earlier tests.
    access_log.take_records()
    access_log.configure(writes_lines=True)
    try:
        yield capture
    finally:
        root.removeHandler(capture)
        root.setLevel(level)
        access_log.take_records()
        access_log.configure(writes_lines=False)
