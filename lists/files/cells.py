import re
from collections.abc import Sequence

# This is loose: it finds the column, and the engine checks the addresses.
_ADDRESS = re.compile(r"""[^\s@,;<>"]+@[^\s@,;<>"]+\.[^\s@,;<>".]+""")
_MAX_LENGTH = 320
# “Jane <jane@shop.example>”, perhaps with others after it.
_NAMED = re.compile(r"[^<>]*<([^<>\s]+)>\s*([,;|].*)?", re.DOTALL)
_BETWEEN = re.compile(r"[\s,;|]+")


def looks_like_address(cell: str) -> bool:
    text = cell.strip()
    return len(text) <= _MAX_LENGTH and _ADDRESS.fullmatch(text) is not None


def read_address(row: Sequence[str], column: int, *, extracts: bool) -> str:
    """Return a cell's text, or the first address in a text like “Jane <jane@shop.example>”."""
    text = row[column].strip() if column < len(row) else ""
    if not extracts or "@" not in text:
        return text
    named = _NAMED.fullmatch(text)
    addresses = [named[1]] if named else [*filter(None, _BETWEEN.split(text))]
    return addresses[0] if all(map(looks_like_address, addresses)) else text


def has_address(cell: str) -> bool:
    return looks_like_address(read_address([cell], 0, extracts=True))
