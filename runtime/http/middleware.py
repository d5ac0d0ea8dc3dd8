"""Middleware for every request: its id and address, and what protects the reader of a page."""

import re
import time
from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.http import HttpResponse
from django.utils.module_loading import import_string

from runtime import ids
from runtime.http.client_ip import client_address
from runtime.http.request import IdentifiedRequest
from runtime.logging import formatters
from runtime.logging.access_log import AccessLog, AccessRecord, add_record, route_of
from runtime.unicode import INVISIBLE_IN_BYTES, show_invisible_in_html

Handler = Callable[[IdentifiedRequest], HttpResponse]

_CLIENTS_OWN_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


class IdentifyRequestMiddleware:
    """Says which request this is and whence, so that page, log line and audit entry agree."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: IdentifiedRequest) -> HttpResponse:
        request.id = choose_request_id(request.META.get("HTTP_X_REQUEST_ID", ""))
        request.ip = client_address(request.META, settings.TRUSTED_PROXIES)
        # Never reset: Django logs a crash after the last middleware has returned.
        formatters.request_id.set(request.id)
        formatters.account_id.set(formatters.NO_ID)
        request.refusal, request.in_access_log = "", False
        started = time.perf_counter()
        AccessLog.in_hand += 1
        try:
            response = self.get_response(request)
        finally:
            AccessLog.in_hand -= 1
        if AccessLog.is_open and not request.in_access_log:
            add_record(_answer(request, response, time.perf_counter() - started))
        if response.status_code < 500:
            # Django would write another record of each refusal.
            response._has_been_logged = True  # type: ignore[attr-defined]
        response["X-Request-Id"] = request.id
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        return response


def choose_request_id(given: str) -> str:
    """The client's, if it is well formed and no key: it goes into logs and answers."""
    if _CLIENTS_OWN_ID.fullmatch(given) and not _knows_secrets()(given):
        return given
    return ids.request_id()


@cache
def _knows_secrets() -> Callable[[str], bool]:
    knows: Callable[[str], bool] = import_string(settings.KNOWS_SECRETS)
    return knows


def _answer(request: IdentifiedRequest, response: HttpResponse, seconds: float) -> AccessRecord:
    account = getattr(request, "account", None)
    return AccessRecord(
        time.time(),
        "static" if request.path_info.startswith(settings.STATIC_URL) else "page",
        request.id,
        account.public_id if account else None,
        None,
        request.ip,
        request.method or "",
        route_of(request.resolver_match),
        response.status_code,
        seconds,
        request.refusal,
    )


class PermissionsPolicyMiddleware:
    """For pages and files. Responses of the API have the header from the start."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: IdentifiedRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY
        return response


class ShowInvisibleCharactersMiddleware:
    """Whatever a page shows, no character of it hides, or turns the order of the others."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: IdentifiedRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html")
        if is_page and not response.streaming and INVISIBLE_IN_BYTES.search(response.content):
            response.content = show_invisible_in_html(response.content.decode()).encode()
        return response
