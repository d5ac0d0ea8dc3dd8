import os
from collections.abc import Iterable, Mapping
from wsgiref.types import StartResponse, WSGIEnvironment

import django
from django.conf import settings
from django.core import signals
from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.db import close_old_connections, reset_queries
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import get_resolver
from django.utils.http import parse_header_parameters

from apikeys.rest.paths import is_api_path
from runtime.logging.routes import get_route

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("SERVES_WEB", "on")

# The matched route, for middleware around `application`. The name is OpenTelemetry's.
ROUTE = "http.route"
# Whether the response streams: tracing hides its class.
STREAMS = "email_validation.streams"


class Request(WSGIRequest):
    def _set_content_type_params(self, meta: Mapping[str, str]) -> None:
        """Ignore malformed parameters and the charset of the Content-Type.

        Django would raise on malformed ones, and decode forms in any charset. Browsers send UTF-8
        (RFC 7578, 4.6).
        """
        try:
            self.content_type, self.content_params = parse_header_parameters(meta["CONTENT_TYPE"])
        except (KeyError, ValueError):
            self.content_type, self.content_params = "", {}


class Handler(WSGIHandler):
    request_class = Request

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        response = super().get_response(request)
        request.META[ROUTE] = get_route(request.resolver_match)
        request.META[STREAMS] = response.streaming
        return response


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    try:
        response = _handler(environ, start_response)
    except BaseException:
        # The greenlet was killed.
        close_old_connections()
        raise
    if not is_api_path(environ["PATH_INFO"]) or environ.get(STREAMS):
        return response
    body = list(response)
    # Slow clients must not hold database connections.
    response.close()
    return body


django.setup(set_prefix=False)
# They find nothing to do: connections are closed at the end of each request, caches keep theirs,
# and no request has URLs of its own. Calling them took 5 % of a metered call's CPU.
signals.request_started.disconnect(close_old_connections)
signals.request_finished.disconnect(close_caches)
signals.request_finished.disconnect(reset_urlconf)
if not settings.DEBUG:
    signals.request_started.disconnect(reset_queries)
_handler = Handler()
# Or each worker's first request would wait.
_ = get_resolver().url_patterns
