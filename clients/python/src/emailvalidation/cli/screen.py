"""What commands print: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from textwrap import TextWrapper
from typing import Any

_COLORS = {
    "deliverable": "32",
    "risky": "33",
    "undeliverable": "31",
    "unknown": "2",
    "ok": "32",
    "wrong": "31",
}
_BAR = 24


class Screen:
    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._has_colors = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._shows_progress = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._last_percent = -1
        self._has_bar = False

    def color(self, text: str, name: str) -> str:
        code = _COLORS.get(name)
        return f"\033[{code}m{text}\033[0m" if code and self._has_colors else text

    def line(self, text: str = "") -> None:
        print(text)

    def document(self, document: Any) -> None:
        """Print one JSON document."""
        print(json.dumps(document, ensure_ascii=False, indent=2))

    def record(self, document: Any) -> None:
        """Print a line of JSON Lines, at once."""
        print(json.dumps(document, ensure_ascii=False), flush=True)

    def note(self, text: str) -> None:
        if sys.stderr.isatty():
            columns = shutil.get_terminal_size().columns
            # URLs and commands stay whole, so that they can be copied.
            fill = TextWrapper(columns, break_long_words=False, break_on_hyphens=False).fill
            text = "\n".join(map(fill, text.splitlines()))
        print(text, file=sys.stderr, flush=True)

    def error(self, text: str) -> None:
        self.note(f"emailvalidation: {text}")

    def facts(self, rows: Sequence[tuple[str, object]]) -> None:
        width = max(len(name) for name, _ in rows)
        for name, value in rows:
            text = f"{value:,}" if isinstance(value, int) else str(value)
            self.line(f"{name:<{width}}  {text}")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]], empty: str) -> None:
        """Print a table, or that it is empty. Columns of numbers end at the right."""
        if not rows:
            self.note(empty)
            return
        texts = [[f"{one:,}" if isinstance(one, int) else str(one) for one in row] for row in rows]
        widths = [max(map(cell_width, column)) for column in zip(head, *texts)]
        numbers = [isinstance(one, int) for one in rows[0]]
        for cells in [head, *texts]:
            padded = [
                " " * (width - cell_width(cell)) + cell
                if is_number
                else cell + " " * (width - cell_width(cell))
                for cell, width, is_number in zip(cells, widths, numbers)
            ]
            self.line("  ".join(padded).rstrip())

    def progress(self, what: str, done: int, total: int, note: str = "") -> None:
        """Draw a bar, or print a line for each tenth where it would fill a log."""
        percent = 100 * done // total if total else 0
        if self._shows_progress:
            columns = shutil.get_terminal_size().columns
            filled = _BAR * percent // 100
            bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] " if columns >= 60 else ""
            text = f"{what} {bar}{percent:3}% {note}"[: columns - 1]
            print(f"\r{text:<{columns - 1}}", end="", file=sys.stderr, flush=True)
            self._has_bar = True
        elif percent // 10 != self._last_percent // 10:
            self.note(f"{what} {percent}% {note}".rstrip())
        self._last_percent = percent

    def end_progress(self) -> None:
        if self._has_bar:
            print(file=sys.stderr, flush=True)
        self._has_bar, self._last_percent = False, -1


def cell_width(text: str) -> int:
    """Return the columns that a terminal needs."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(bool(unicodedata.combining(letter)) for letter in text)
