"""Customers who call the API without pause, and repeat a call until it is answered."""

import http.client
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.production import ENVIRONMENT

PAUSE_SECONDS = 0.05


class RetryingCalls:
    def __init__(self, port: int, key: str, threads: int = 4) -> None:
        self._port = port
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            # As the reverse proxy sends them.
            "Host": ENVIRONMENT["ALLOWED_HOSTS"],
            "X-Forwarded-For": "198.51.100.7",
            "X-Forwarded-Proto": "https",
        }
        self._stopping = threading.Event()
        # The ids of the results, and how often a call had to be repeated.
        self.answered: list[str] = []
        self.repeated = 0
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.answered.append(self._validate(str(uuid.uuid4())))

    def _validate(self, idempotency_key: str) -> str:
        headers = {**self._headers, "Idempotency-Key": idempotency_key}
        while True:
            status, text = self._send(headers)
            if status == 200:
                return str(json.loads(text)["id"])
            # Nothing listens, or the product is stopping. Anything else is an error of the test.
            assert status in {0, 503}, text
            self.repeated += 1
            self._stopping.wait(PAUSE_SECONDS)

    def _send(self, headers: dict[str, str]) -> tuple[int, str]:
        """Return the response, or 0 if there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
        try:
            connection.request("POST", "/v1/validate", b'{"email": "no address"}', headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()


@contextmanager
def retrying_calls(port: int, key: str) -> Iterator[RetryingCalls]:
    calls = RetryingCalls(port, key)
    try:
        yield calls
    finally:
        calls.stop()
