"""A proxy in front of the product that loses, halves, slows, doubles and refuses calls.

Which fault a call meets is random, with a seed.
"""

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.servers.dns import serving
from tests.servers.quiet_handler import QuietHandler

STORM_CALLS = 5
FAULTS = ("reset", "lost", "half", "slow", "double", "storm", "500", "502", "503", "stuck")
# Longer than any call's deadline here.
STUCK_SECONDS = 30


@dataclass
class FaultProxy:
    upstream: str
    rate: float
    random: random.Random
    kinds: tuple[str, ...] = FAULTS
    # The faults that are left, if they are counted.
    most: int | None = None
    url: str = ""
    # The calls that arrived, with their method.
    paths: list[tuple[str, str]] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    # The calls that the storm still refuses.
    storm: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    closed: threading.Event = field(default_factory=threading.Event)

    def choose_fault(self) -> str:
        with self.lock:
            if self.storm:
                self.storm -= 1
                fault = "storm"
            elif self.most != 0 and self.random.random() < self.rate:
                fault = self.random.choice(self.kinds)
                self.most = None if self.most is None else self.most - 1
                self.storm = STORM_CALLS if fault == "storm" else 0
            else:
                return ""
            self.faults[fault] += 1
            return fault


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    proxy: FaultProxy


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        body = self.read_body()
        self.server.proxy.paths.append((self.command, self.path))
        fault = self.server.proxy.choose_fault()
        if fault == "reset":
            self.close_connection = True
        elif fault == "storm":
            self._refuse(429, "rate_limit_error", "rate_limit_exceeded", {"retry_after": 1})
        elif fault == "page":
            self._send(200, {"Content-Type": "text/html"}, b"<html>Sign in to the network</html>")
        elif fault in {"500", "502", "503"}:
            self._fail(fault)
        elif fault == "stuck":
            self.server.proxy.closed.wait(STUCK_SECONDS)
            self.close_connection = True
        else:
            self._forward(body, fault)

    do_POST = do_PUT = do_DELETE = do_GET

    def _fail(self, fault: str) -> None:
        if fault == "502":
            self._send(502, {"Content-Type": "text/html"}, b"<html>Bad gateway</html>")
        elif fault == "500":
            self._refuse(500, "api_error", "internal_error", {})
        else:
            details = {"retry_after": 1, "charged": False}
            self._refuse(503, "api_error", "service_unavailable", details)

    def _refuse(self, status: int, kind: str, code: str, details: Mapping[str, object]) -> None:
        error = {"type": kind, "code": code, "message": "A fault.", "details": details}
        headers = {"Content-Type": "application/json"}
        if status == 429:
            headers["Retry-After"] = "1"
        self._send(status, headers, json.dumps({"error": error}).encode())

    def _forward(self, body: bytes, fault: str) -> None:
        response, data = self._call_upstream(body)
        if fault == "double":
            response, data = self._call_upstream(body)
        headers = {name: value for name, value in response.getheaders() if name in FORWARDED}
        if fault == "lost":
            self.close_connection = True
        elif fault == "half":
            self._start(response.status, headers, len(data))
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        elif fault == "slow":
            self._start(response.status, headers, len(data))
            for start in range(0, len(data), 50):
                self.wfile.write(data[start : start + 50])
                time.sleep(0.02)
        else:
            self._send(response.status, headers, data)

    def _call_upstream(self, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        upstream = http.client.HTTPConnection(urlsplit(self.server.proxy.upstream).netloc)
        upstream.request(self.command, self.path, body, dict(self.headers))
        response = upstream.getresponse()
        data = response.read()
        upstream.close()
        return response, data

    def _send(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self._start(status, headers, len(data))
        self.wfile.write(data)

    def _start(self, status: int, headers: dict[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def handle(self) -> None:
        # The client has given up.
        with suppress(ConnectionError):
            super().handle()


FORWARDED = {
    *("Content-Type", "Retry-After", "RateLimit", "RateLimit-Policy", "X-Request-Id", "ETag"),
    *("X-Credits-Cost", "Idempotent-Replayed", "X-List-State", "Content-Disposition"),
}


@contextmanager
def fault_proxy(upstream: str, rate: float, seed: int) -> Iterator[FaultProxy]:
    proxy = FaultProxy(upstream, rate, random.Random(seed))
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.proxy, proxy.url = proxy, f"http://127.0.0.1:{server.server_address[1]}"
        with serving(server):
            yield proxy
            proxy.closed.set()
