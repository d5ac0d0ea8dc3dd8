"""Frames in a pipe: four bytes of length, then JSON."""

import os
import selectors
import struct
import time
from typing import Any

import orjson

Frame = dict[str, Any]
# Fits a chunk with each character escaped.
MAX_FRAME_SIZE = 8 << 20
_LENGTH = struct.Struct(">I")


def pack(content: Frame) -> bytes:
    body = orjson.dumps(content)
    return _LENGTH.pack(len(body)) + body


class FrameReader:
    def __init__(self, descriptor: int, wait_seconds: float) -> None:
        self._descriptor = descriptor
        self._wait_seconds = wait_seconds

    def read(self) -> Frame:
        """Return the next frame. Raise EOFError, TimeoutError, or ValueError for other output."""
        deadline = time.monotonic() + self._wait_seconds
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, deadline))
        if length > MAX_FRAME_SIZE:
            raise ValueError("The frame is too long.")
        frame = orjson.loads(self._read(length, deadline))
        if not isinstance(frame, dict):
            raise ValueError("The frame is no object.")
        return frame

    def _read(self, size: int, deadline: float) -> bytearray:
        content = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._descriptor, selectors.EVENT_READ)
            while len(content) < size:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                chunk = os.read(self._descriptor, size - len(content))
                if not chunk:
                    raise EOFError
                content += chunk
        return content
