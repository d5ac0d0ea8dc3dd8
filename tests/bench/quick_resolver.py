"""A DNS server in a separate process, fast enough not to limit what is measured.

Every domain has one mail host with one address. Replies come after a fixed delay, or after another
one if the domain starts with "slow". Names below .invalid don't exist, because the engine distrusts
resolvers that claim they do.
"""

import heapq
import multiprocessing
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

_MAX_WAIT_SECONDS = 0.05
_RECORD = struct.Struct("!HHIH")
# A compression pointer to the name in the question section.
_SAME_NAME = b"\xc0\x0c"
_SLOW, _INVALID = b"slow", b"\x07invalid\0"
_SOA_TYPE = 6
_TTL = 300
# For negative replies. Its names are that of the question, and its last number is the TTL.
_SOA = _SAME_NAME * 2 + struct.pack("!5I", 1, 2, 3, 4, _TTL)
_DATA = {15: struct.pack("!H", 10) + b"\x02mx" + _SAME_NAME, 1: bytes((8, 8, 4, 4))}


class QuickResolver(NamedTuple):
    port: int
    pid: int

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


@contextmanager
def quick_resolver(delay: float, *, slow_delay: float = 0) -> Iterator[QuickResolver]:
    spawn: Any = multiprocessing.get_context("spawn")
    parent, child = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(child, delay, slow_delay), daemon=True)
    process.start()
    try:
        yield QuickResolver(parent.recv(), process.pid)
    finally:
        parent.send("stop")
        process.join()


def _serve(parent: Connection, delay: float, slow_delay: float) -> None:
    due: list[tuple[float, bytes, Any]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
        udp.bind(("127.0.0.1", 0))
        parent.send(udp.getsockname()[1])
        while True:
            while due and due[0][0] <= time.monotonic():
                _, reply, client = heapq.heappop(due)
                udp.sendto(reply, client)
            if not due and parent.poll():
                return
            wait = due[0][0] - time.monotonic() if due else _MAX_WAIT_SECONDS
            udp.settimeout(min(max(wait, 0.0001), _MAX_WAIT_SECONDS))
            try:
                query, client = udp.recvfrom(512)
            except TimeoutError:
                continue
            wait = slow_delay if _SLOW in query else delay
            heapq.heappush(due, (time.monotonic() + wait, _reply_to(query), client))


def _reply_to(query: bytes) -> bytes:
    end = query.index(b"\0", 12) + 1
    query_type = int.from_bytes(query[end : end + 2], "big")
    data = b"" if query[:end].endswith(_INVALID) else _DATA.get(query_type, b"")
    record_type, record_data = (query_type, data) if data else (_SOA_TYPE, _SOA)
    record = _SAME_NAME + _RECORD.pack(record_type, 1, _TTL, len(record_data)) + record_data
    counts = struct.pack("!HHHH", 1, bool(data), not data, 0)
    return query[:2] + b"\x81\x80" + counts + query[12 : end + 4] + record
