"""Keep results in a temporary file for later duplicates."""

import zlib
from array import array
from bisect import bisect_left
from tempfile import SpooledTemporaryFile
from typing import Any, Self

import orjson
from django.conf import settings

# Short lists need no file.
_MAX_BYTES_IN_MEMORY = 2 << 20


class ResultFile:
    def __init__(self) -> None:
        # The system's folder for temporary files may be in memory.
        self._file = SpooledTemporaryFile(  # noqa: SIM115 (closed by __exit__)
            _MAX_BYTES_IN_MEMORY, dir=str(settings.DATA_DIR)
        )
        self._rows = array("Q")
        self._ends = array("Q", [0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, row: int, result: dict[str, Any]) -> None:
        """Store a result. Binary search needs ascending rows."""
        packed = zlib.compress(orjson.dumps(result), 1)
        self._file.seek(self._ends[-1])
        self._file.write(packed)
        self._rows.append(row)
        self._ends.append(self._ends[-1] + len(packed))

    def find(self, row: int) -> dict[str, Any] | None:
        index = bisect_left(self._rows, row)
        if index == len(self._rows) or self._rows[index] != row:
            return None
        self._file.seek(self._ends[index])
        packed = self._file.read(self._ends[index + 1] - self._ends[index])
        result: dict[str, Any] = orjson.loads(zlib.decompress(packed))
        return result
