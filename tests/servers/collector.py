"""A server that stores what is posted to it: Sentry's envelopes and OpenTelemetry's spans."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.servers.dns import serving
from tests.servers.quiet_handler import QuietHandler


class Collector:
    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.sentry_dsn = f"http://public@127.0.0.1:{port}/1"
        # The path and the content of each request.
        self.posts: list[tuple[str, bytes]] = []

    def events(self) -> list[dict[str, Any]]:
        """Return Sentry's events. An envelope is a line about itself, then two for each item."""
        lines = [body.split(b"\n") for path, body in self.posts if path.endswith("/envelope/")]
        return [json.loads(line) for envelope in lines for line in envelope[2::2] if line]

    def exports(self) -> list[ExportTraceServiceRequest]:
        bodies = [body for path, body in self.posts if path == "/v1/traces"]
        return [ExportTraceServiceRequest.FromString(body) for body in bodies]

    def spans(self) -> list[Span]:
        resources = [each for export in self.exports() for each in export.resource_spans]
        return [span for each in resources for scope in each.scope_spans for span in scope.spans]

    def content(self) -> str:
        """Return everything that was posted, as far as it is text."""
        return "".join(body.decode(errors="replace") for _, body in self.posts)


class _Handler(QuietHandler):
    collector: Collector

    def do_POST(self) -> None:
        body = self.read_body()
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        self.collector.posts.append((self.path, body))
        self.reply(200)


@contextmanager
def run_collector() -> Iterator[Collector]:
    class Handler(_Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Handler.collector = Collector(server.server_port)
        with serving(server):
            yield Handler.collector
