from typing import TYPE_CHECKING

from django.http import HttpResponse

from accounts.request import SiteRequest
from runtime.http.request import Middleware
from runtime.logging.access_log import METHODS
from runtime.logging.routes import get_route
from runtime.tracing import is_sampled, request_span

if TYPE_CHECKING:
    from opentelemetry.trace import Span


class TracingMiddleware(Middleware):
    """Record a span per request, without ids of accounts and addresses."""

    def __call__(self, request: SiteRequest) -> HttpResponse:
        if not is_sampled():
            return self.get_response(request)
        # Clients can send any method. OpenTelemetry defines this name.
        method = request.method if request.method in METHODS else "_OTHER"
        with request_span(method) as span:
            response = self.get_response(request)
            _describe(span, method, request, response.status_code)
            return response


def _describe(span: "Span", method: str, request: SiteRequest, status: int) -> None:
    from opentelemetry.trace import StatusCode

    span.set_attribute("http.request.method", method)
    span.set_attribute("http.response.status_code", status)
    span.set_attribute("emailvalidation.request_id", request.id)
    if route := get_route(request.resolver_match):
        span.set_attribute("http.route", route)
        span.update_name(f"{method} {route}")
    call = getattr(request, "call", None)
    if call is not None and call.verdict:
        span.set_attribute("emailvalidation.verdict", call.verdict)
    if call is not None and call.refusal:
        span.set_attribute("emailvalidation.code", call.refusal)
    if status >= 500:
        span.set_status(StatusCode.ERROR)
