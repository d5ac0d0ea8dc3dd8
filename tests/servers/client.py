"""A client that calls the product over HTTP, from any number of threads."""

import http.client
import json
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.servers.product import Product
from tests.support.waiting import wait_until


@dataclass(frozen=True)
class ClientResponse:
    status: int
    headers: dict[str, str]
    text: str
    seconds: float

    @property
    def document(self) -> Any:
        return json.loads(self.text)


class HttpCaller:
    """A client with one keep-alive connection per thread."""

    def __init__(self, site: Product, secret: str | None) -> None:
        self.secret = secret
        self._port = site.port
        self._headers = {"Content-Type": "application/json"}
        if secret:
            self._headers["Authorization"] = f"Bearer {secret}"
        self._local = threading.local()
        self._connections: list[http.client.HTTPConnection] = []
        site.callers.add(self)

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    __del__ = close

    def get(self, path: str = "/v1/me") -> ClientResponse:
        return self.call("GET", path)

    def validate(self, email: str, **headers: str) -> ClientResponse:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.call("POST", "/v1/validate", json.dumps({"email": email}), headers)

    def call(
        self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None
    ) -> ClientResponse:
        connection = self._connection()
        started = time.monotonic()
        connection.request(method, path, body.encode(), {**self._headers, **(headers or {})})
        response = connection.getresponse()
        text = response.read().decode()
        seconds = time.monotonic() - started
        return ClientResponse(response.status, dict(response.getheaders()), text, seconds)

    def get_concurrently(self, times: int, threads: int = 16) -> list[ClientResponse]:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(lambda _: self.get(), range(times)))

    def _connection(self) -> http.client.HTTPConnection:
        if not hasattr(self._local, "connection"):
            self._local.connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=20)
            self._connections.append(self._local.connection)
        connection: http.client.HTTPConnection = self._local.connection
        return connection


@contextmanager
def steady_calls(
    site: Product, secret: str, pauses: Sequence[float] = (0, 0)
) -> Iterator[list[ClientResponse]]:
    """Send charged calls for as long as the context lasts; yield the responses.

    Each connection has a pause between its calls. A call without a response is an error.
    """
    responses: list[ClientResponse] = []
    caller, stop = HttpCaller(site, secret), threading.Event()

    def call(pause: float) -> None:
        while not stop.wait(pause):
            responses.append(caller.validate("no address"))

    with ThreadPoolExecutor(len(pauses)) as threads:
        calls = [threads.submit(call, pause) for pause in pauses]
        try:
            yield responses
        finally:
            stop.set()
    for each in calls:
        each.result()


def wait_until_ready(caller: HttpCaller) -> None:
    """Poll /readyz until it responds 200."""
    wait_until(lambda: caller.get("/readyz").status == 200)


def wait_for_more(responses: list[ClientResponse], count: int = 50) -> None:
    number = len(responses) + count
    wait_until(lambda: len(responses) >= number)
