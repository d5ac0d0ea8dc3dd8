"""Metered calls through a load balancer, from customers who repeat what wasn't answered."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import uuid4

CALLERS = 3
_TIMEOUT = 20


@dataclass
class Traffic:
    """What callers sent and got. Each call with a key is repeated until it is answered."""

    port: int
    host: str
    secret: str
    # The ids of the results that each call with an idempotency key was answered with.
    answered: dict[str, set[str]] = field(default_factory=dict)
    # Calls without a key are sent once.
    sent_once: int = 0
    answered_once: set[str] = field(default_factory=set)
    # The ids of the results that were charged, known after the end.
    charged: set[str] = field(default_factory=set)
    failures: list[int] = field(default_factory=list)
    # When a call was answered, by time.monotonic().
    times: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        callers = [threading.Thread(target=self._repeat) for _ in range(CALLERS)]
        self._threads = [*callers, threading.Thread(target=self._send_once)]
        for thread in self._threads:
            thread.start()

    @property
    def results(self) -> set[str]:
        return self.answered_once.union(*list(self.answered.values()))

    @property
    def longest_gap(self) -> float:
        """Return the longest time in seconds without any answered call."""
        times = sorted(self.times)
        return max(after - before for before, after in pairwise(times))

    def wait_for_more(self, count: int = 50, seconds: float = 60) -> None:
        before, deadline = len(self.times), time.monotonic() + seconds
        while len(self.times) < before + count:
            assert time.monotonic() < deadline, self.failures[-20:]
            time.sleep(0.02)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self) -> None:
        while not self._stop.is_set():
            key = uuid4().hex
            while (result := self._call({"Idempotency-Key": key})) is None:
                time.sleep(0.1)
            self.answered.setdefault(key, set()).add(result)

    def _send_once(self) -> None:
        while not self._stop.is_set():
            self.sent_once += 1
            if result := self._call({}):
                self.answered_once.add(result)
            else:
                time.sleep(0.1)

    def _call(self, headers: dict[str, str]) -> str | None:
        """Return the result's id, or None without one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_TIMEOUT)
        headers |= {"Host": self.host, "Authorization": f"Bearer {self.secret}"}
        # As the reverse proxy sends it.
        headers |= {"Content-Type": "application/json", "X-Forwarded-Proto": "https"}
        try:
            connection.request("POST", "/v1/validate", json.dumps({"email": "no address"}), headers)
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException):
            self.failures.append(0)
            return None
        finally:
            connection.close()
        if response.status != 200:
            self.failures.append(response.status)
            return None
        self.times.append(time.monotonic())
        return str(json.loads(body)["id"])


@contextmanager
def traffic(port: int, host: str, secret: str) -> Iterator[Traffic]:
    running = Traffic(port, host, secret)
    try:
        yield running
    finally:
        running.stop()
