"""A DNS server on loopback that knows every answer and takes its time to give it."""

import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import dns.message
import dns.rrset

_LONGEST_WAIT = 0.1


@contextmanager
def slow_resolver(delay: float) -> Iterator[int]:
    """Yields its port. Each question is answered after the delay, however many there are."""
    stopped = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=_answer_until, args=(stopped, udp, delay), daemon=True)
        thread.start()
        try:
            yield udp.getsockname()[1]
        finally:
            stopped.set()
            thread.join()


def _answer_until(stopped: threading.Event, udp: socket.socket, delay: float) -> None:
    # The delay is the same for all, so the first question is always the next to be answered.
    due: deque[tuple[float, bytes, tuple[str, int]]] = deque()
    while not stopped.is_set():
        while due and due[0][0] <= time.monotonic():
            _, answer, client = due.popleft()
            udp.sendto(answer, client)
        next_due = due[0][0] - time.monotonic() if due else _LONGEST_WAIT
        udp.settimeout(min(max(next_due, 0.0001), _LONGEST_WAIT))
        try:
            question, client = udp.recvfrom(512)
        except TimeoutError:
            continue
        due.append((time.monotonic() + delay, _answer(question), client))


def _answer(question: bytes) -> bytes:
    response = dns.message.make_response(dns.message.from_wire(question))
    name = response.question[0].name
    response.answer.append(dns.rrset.from_text(name, 60, "IN", "MX", "10 mail.example.com."))
    return response.to_wire()
