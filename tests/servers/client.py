"""A back-end server that calls the product over HTTP, from as many threads as a test wants."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.servers.product import Product


@dataclass(frozen=True)
class HttpAnswer:
    status: int
    headers: dict[str, str]
    text: str
    seconds: float

    @property
    def document(self) -> Any:
        return json.loads(self.text)


class HttpCaller:
    """Each thread keeps a connection of its own."""

    def __init__(self, site: Product, secret: str | None) -> None:
        self.secret = secret
        self._port = site.port
        self._headers = {"Content-Type": "application/json"}
        if secret:
            self._headers["Authorization"] = f"Bearer {secret}"
        self._kept = threading.local()
        self._all: list[http.client.HTTPConnection] = []
        site.callers.add(self)

    def close(self) -> None:
        for connection in self._all:
            connection.close()

    __del__ = close

    def get(self, path: str = "/v1/me") -> HttpAnswer:
        return self.call("GET", path)

    def validate(self, email: str, **headers: str) -> HttpAnswer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.call("POST", "/v1/validate", json.dumps({"email": email}), named)

    def call(
        self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None
    ) -> HttpAnswer:
        connection = self._connection()
        started = time.monotonic()
        connection.request(method, path, body.encode(), {**self._headers, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read().decode()
        seconds = time.monotonic() - started
        return HttpAnswer(answer.status, dict(answer.getheaders()), text, seconds)

    def at_once(self, times: int, threads: int = 16) -> list[HttpAnswer]:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(lambda _: self.get(), range(times)))

    def _connection(self) -> http.client.HTTPConnection:
        if not hasattr(self._kept, "connection"):
            self._kept.connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
            self._all.append(self._kept.connection)
        connection: http.client.HTTPConnection = self._kept.connection
        return connection


@contextmanager
def calls_coming(site: Product, secret: str) -> Iterator[list[HttpAnswer]]:
    """Each of them is charged, as fast as they are answered."""
    answers: list[HttpAnswer] = []
    caller = HttpCaller(site, secret)
    stop = threading.Event()

    def call() -> None:
        while not stop.is_set():
            answers.append(caller.validate("no address"))

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        caller.close()


def until_ready(caller: HttpCaller) -> None:
    """As a load balancer waits for it."""
    deadline = time.monotonic() + 20
    while caller.get("/readyz").status != 200:
        assert time.monotonic() < deadline, caller.get("/readyz").text
        time.sleep(0.1)
