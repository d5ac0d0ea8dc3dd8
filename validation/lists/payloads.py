"""What is stored of a list's rows and results: JSON, compressed and encrypted."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from runtime.encryption import decrypt_bytes, encrypt_bytes

# Ten times as fast as the default, and a little larger.
_COMPRESSION = 1


class RowKind(StrEnum):
    ADDRESS = "a"
    # Repeats an earlier row's address or mailbox.
    DUPLICATE = "d"
    EMPTY = "e"
    # Text without an @.
    NOT_ADDRESS = "n"


@dataclass(slots=True)
class Rows:
    """Consecutive rows of a list."""

    cells: list[list[str]]
    # One RowKind per row.
    kinds: str
    # For each duplicate, in order: the number of the row that it repeats, in the whole list.
    originals: list[int]

    def pack(self) -> bytes:
        return pack([self.cells, self.kinds, self.originals])

    @classmethod
    def unpack(cls, stored: bytes) -> "Rows":
        return cls(*unpack(stored))


def pack_results(results: Sequence[dict[str, Any]]) -> bytes:
    """Store one result per row of the kind ADDRESS, in order."""
    return pack(results)


def unpack_results(stored: bytes) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = unpack(stored)
    return results


def pack(value: object) -> bytes:
    return encrypt_bytes(zlib.compress(orjson.dumps(value), _COMPRESSION))


def unpack(stored: bytes) -> Any:
    return orjson.loads(zlib.decompress(decrypt_bytes(bytes(stored))))
