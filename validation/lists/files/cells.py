"""Recognize cells that hold an address."""

import re

# Deliberately loose: it finds the column, the engine checks the addresses.
_ADDRESS = re.compile(r"""[^\s@,;<>"]+@[^\s@,;<>"]+\.[^\s@,;<>".]+""")
_MAX_LENGTH = 320


def looks_like_address(cell: str) -> bool:
    text = cell.strip()
    return len(text) <= _MAX_LENGTH and _ADDRESS.fullmatch(text) is not None
