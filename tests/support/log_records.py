"""Everything that is logged while a test runs, in the words in which it leaves the process."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runtime.logging import access_log
from runtime.logging.formatters import JsonFormatter, LineFormatter


class Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._people = LineFormatter("%(levelname)s %(name)s %(message)s")
        self.setFormatter(JsonFormatter())

    def emit(self, record: logging.LogRecord) -> None:
        self._lines += [self.format(record), self._people.format(record)]

    @property
    def text(self) -> str:
        """For people and for programs, one after the other."""
        for one in access_log.take_records():
            self._lines += [form(one).decode() for form in FORMS]
        return "\n".join(line.removesuffix("\n") for line in self._lines)

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def of_requests(self) -> list[dict[str, Any]]:
        """Read by a program."""
        documents = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [document for document in documents if "status" in document]


FORMS = (access_log.json_line, access_log.text_line)


@contextmanager
def recorded() -> Iterator[Records]:
    records = Records()
    root = logging.getLogger()
    level = root.level
    root.addHandler(records)
    root.setLevel("INFO")
    access_log.configure(is_logged=True)
    try:
        yield records
    finally:
        root.removeHandler(records)
        root.setLevel(level)
        access_log.take_records()
        access_log.configure(is_logged=False)
