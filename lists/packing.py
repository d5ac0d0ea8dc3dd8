import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

import orjson

from runtime.encryption import decrypt_bytes, encrypt_bytes

Value = TypeVar("Value")
Result = dict[str, Any]
Stored = bytes | memoryview

# This is much faster than the default, and little larger.
_COMPRESSION = 1


class RowKind(StrEnum):
    ADDRESS = "a"
    DUPLICATE = "d"
    EMPTY = "e"
    # Text without an @.
    NOT_ADDRESS = "n"


class Lines(Sequence[Value], Generic[Value]):
    """Parses values on access, so that reading one row costs little. It has no slices."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines

    def __getitem__(self, index: Any) -> Any:
        return orjson.loads(self._lines[index])

    def __len__(self) -> int:
        return len(self._lines)


@dataclass(slots=True)
class Rows:
    cells: Sequence[list[str]]
    # One RowKind per row.
    kinds: str
    # The row that each duplicate repeats, in the whole list.
    originals: list[int]

    def pack(self) -> bytes:
        return pack_lines([self.kinds, self.originals, *self.cells])

    @classmethod
    def unpack(cls, stored: Stored) -> "Rows":
        lines = unpack_lines(stored)
        return cls(Lines(lines[2:]), orjson.loads(lines[0]), orjson.loads(lines[1]))


class RowBits:
    """A set of row numbers that takes a bit for each."""

    def __init__(self, bits: bytes = b"") -> None:
        self._bits = bytearray(bits)

    def add(self, row: int) -> None:
        self._bits.extend(bytes(max(0, row // 8 + 1 - len(self._bits))))
        self._bits[row // 8] |= 1 << row % 8

    def __contains__(self, row: int) -> bool:
        return row // 8 < len(self._bits) and bool(self._bits[row // 8] & 1 << row % 8)

    def __bytes__(self) -> bytes:
        return bytes(self._bits)


def unpack_results(stored: Stored) -> Lines[Result]:
    return Lines(unpack_lines(stored))


def pack_lines(values: Iterable[object]) -> bytes:
    lines = b"\n".join(map(orjson.dumps, values))
    return encrypt_bytes(zlib.compress(lines, _COMPRESSION))


def unpack_lines(stored: Stored) -> list[bytes]:
    return zlib.decompress(decrypt_bytes(bytes(stored))).splitlines()
