"""A DNS server in a process of its own, quick enough not to be what is measured: every domain has
one mail host with one address, each answer after the same delay; those whose names begin with
"slow" after another one. It counts what it is asked. Below .invalid it has nothing: the engine
would not believe it."""

import heapq
import multiprocessing
import os
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

_LONGEST_WAIT = 0.05
_RECORD = struct.Struct("!HHIH")
# A pointer to the name in the question.
_SAME_NAME = b"\xc0\x0c"
_SLOW, _INVALID = b"slow", b"\x07invalid\0"
_SOA_TYPE = 6
_TTL = 300
# Of what there is not. Its names are those of the question, its last number the TTL.
_SOA = _SAME_NAME * 2 + struct.pack("!5I", 1, 2, 3, 4, _TTL)
_DATA = {15: struct.pack("!H", 10) + b"\x02mx" + _SAME_NAME, 1: bytes((8, 8, 4, 4))}

Question = tuple[bytes, int]


class QuickResolver:
    def __init__(self, port: int, parent: Connection) -> None:
        self.port = port
        self.address = f"127.0.0.1:{port}"
        self._parent = parent

    def asked(self) -> list[tuple[float, Question]]:
        """When it was asked what, since it was asked this last."""
        self._parent.send("asked")
        asked: list[tuple[float, Question]] = self._parent.recv()
        return asked


@contextmanager
def quick_resolver(delay: float, *, slowly: float = 0) -> Iterator[QuickResolver]:
    spawn: Any = multiprocessing.get_context("spawn")
    parent, child = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(child, delay, slowly), daemon=True)
    process.start()
    try:
        yield QuickResolver(parent.recv(), parent)
    finally:
        parent.send("stop")
        process.join()


def most_for_one_record(asked: list[tuple[float, Question]]) -> int:
    return max(Counter(question for _, question in asked).values())


def _serve(parent: Connection, delay: float, slowly: float) -> None:
    # Whoever measures stays on one core; a resolver is another machine.
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    asked: list[tuple[float, Question]] = []
    due: list[tuple[float, bytes, Any]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
        udp.bind(("127.0.0.1", 0))
        parent.send(udp.getsockname()[1])
        while True:
            while due and due[0][0] <= time.monotonic():
                _, answer, client = heapq.heappop(due)
                udp.sendto(answer, client)
            if not due and parent.poll():
                if parent.recv() == "stop":
                    return
                parent.send(asked)
                asked = []
            wait = due[0][0] - time.monotonic() if due else _LONGEST_WAIT
            udp.settimeout(min(max(wait, 0.0001), _LONGEST_WAIT))
            try:
                query, client = udp.recvfrom(512)
            except TimeoutError:
                continue
            question, answer = _answer(query)
            now = time.monotonic()
            asked.append((now, question))
            wait = slowly if _SLOW in question[0] else delay
            heapq.heappush(due, (now + wait, answer, client))


def _answer(query: bytes) -> tuple[Question, bytes]:
    end = query.index(b"\0", 12) + 1
    kind = int.from_bytes(query[end : end + 2], "big")
    data = b"" if query[:end].endswith(_INVALID) else _DATA.get(kind, b"")
    told, shown = (kind, data) if data else (_SOA_TYPE, _SOA)
    answer = _SAME_NAME + _RECORD.pack(told, 1, _TTL, len(shown)) + shown
    counts = struct.pack("!HHHH", 1, bool(data), not data, 0)
    return (query[12:end], kind), query[:2] + b"\x81\x80" + counts + query[12 : end + 4] + answer
