"""Read and write uncompressed domain names, faster than dnspython.

Whole names can be lower-cased, as no length is a letter's code.
"""

import re
from functools import lru_cache

import dns.name

ROOT = b"\0"
POINTER = 0xC0
_MAX_LABEL, _MAX_NAME = 63, 255
_PLAIN_LABEL = re.compile(rb"[A-Za-z0-9_-]+")


def read_name(wire: bytes, position: int) -> bytes:
    """Raise ValueError or IndexError if the name is malformed."""
    name, limit, pointers = b"", position, 0
    while length := wire[position]:
        if length >= POINTER:
            position = (length - POINTER) << 8 | wire[position + 1]
            # RFC 1035, 4.1.4: pointers lead back, so there is no loop.
            if position >= limit:
                raise ValueError("A pointer leads forward")
            pointers += 1
            if pointers > dns.name.MAX_COMPRESSION_POINTER_CHAIN:
                raise ValueError("A name has too many pointers")
            # The target ends before what was read.
            wire, limit = wire[:limit], position
        elif length <= _MAX_LABEL:
            end = position + 1 + length
            name += wire[position:end]
            position = end
            if len(name) >= _MAX_NAME:
                raise ValueError("A name is too long")
        else:
            raise ValueError("A label is too long")
    return name + ROOT


def skip_name(wire: bytes, position: int) -> int:
    while wire[position]:
        if wire[position] >= POINTER:
            return position + 2
        position += 1 + wire[position]
    return position + 1


@lru_cache(maxsize=1024)
def encode_name(text: str) -> bytes:
    if "\\" in text:
        return dns.name.from_text(text).to_wire() or b""
    labels = text.encode("ascii").split(b".")
    return b"".join(bytes((len(label),)) + label for label in labels) + ROOT


def to_text(name: bytes) -> str:
    labels, position = [], 0
    while length := name[position]:
        labels.append(name[position + 1 : position + 1 + length])
        position += 1 + length
    if labels and all(map(_PLAIN_LABEL.fullmatch, labels)):
        return b".".join(labels).decode("ascii")
    return dns.name.Name([*labels, b""]).to_text(omit_final_dot=bool(labels))
