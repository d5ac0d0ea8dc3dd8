"""Send calls to the product, traced by Sentry and OpenTelemetry; print what both saw, as JSON.

A process of its own, because both libraries replace parts of Django.
"""

import io
import json
from typing import Any
from wsgiref.types import WSGIEnvironment
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.core.signals import request_finished, request_started
from opentelemetry.instrumentation.wsgi import OpenTelemetryMiddleware
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Span

from config.wsgi import application
from tests.apikeys.rest.tracing.settings import SENTRY
from tests.conftest import make_user
from tests.servers.product import prepare_folder

signals: list[str] = []
spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))


# The route is in the WSGI environ.
def add_route(
    span: Span, environ: WSGIEnvironment, status: str, headers: list[tuple[str, str]]
) -> None:
    if route := environ.get("http.route"):
        span.set_attribute("http.route", route)
        span.update_name(f"{environ['REQUEST_METHOD']} {route}")


traced = OpenTelemetryMiddleware(application, response_hook=add_route, tracer_provider=provider)


def on_start(environ: WSGIEnvironment, **_: Any) -> None:
    signals.append(f"started {environ['PATH_INFO']}")


def on_finish(**_: Any) -> None:
    signals.append("finished")


def send(method: str, path: str, secret: str = "", body: bytes = b"") -> None:
    """Call the application as a WSGI server does."""
    environ: WSGIEnvironment = {"REQUEST_METHOD": method, "PATH_INFO": path}
    environ |= {"HTTP_AUTHORIZATION": f"Bearer {secret}", "wsgi.input": io.BytesIO(body)}
    environ |= {"CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body))}
    setup_testing_defaults(environ)
    for _ in traced(environ, lambda status, headers, exc_info=None: lambda data: None):
        pass


def create_secret() -> str:
    from accounts.services import open_account
    from apikeys.services import create_key

    account = open_account(user=make_user("owner@shop.example"), name="The Shop")
    return create_key(account=account, name="Server", actor=None)[1]


def main() -> None:
    prepare_folder(settings.DATA_DIR, on_sqlite=True)
    secret = create_secret()
    SENTRY.events.clear()
    request_started.connect(on_start)
    request_finished.connect(on_finish)
    send("POST", "/v1/validate", secret, b'{"email": "deliverable@sandbox.test"}')
    send("POST", "/v1/validate")
    send("GET", "/v1/nothing", secret)
    send("GET", "/v1/crash", secret)
    seen = [
        [span.name, span.attributes["http.route"], span.attributes["http.status_code"]]
        for span in spans.get_finished_spans()
        if span.attributes
    ]
    print(json.dumps({"signals": signals, "spans": seen, "sentry": SENTRY.events}))


if __name__ == "__main__":
    main()
