import re
import time

from django.conf import settings
from django.http import HttpResponse
from django.utils.module_loading import import_string

from runtime import ids
from runtime.http.client_ip import client_address, current_ip
from runtime.http.request import IdentifiedRequest, Middleware
from runtime.logging import formatters
from runtime.logging.access_log import AccessLog, AccessRecord, add_record_of
from runtime.logging.routes import get_route
from runtime.unicode import INVISIBLE_IN_BYTES, show_invisible_in_html

_CLIENT_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


class IdentifyRequestMiddleware(Middleware):
    def __call__(self, request: IdentifiedRequest) -> HttpResponse:
        request.id = choose_request_id(request.META.get("HTTP_X_REQUEST_ID", ""))
        request.ip = client_address(request.META, settings.TRUSTED_PROXIES)
        # Not reset: Django logs a crash later.
        formatters.current_request_id.set(request.id)
        formatters.current_account_id.set(formatters.NO_ID)
        request.refusal, request.in_access_log = "", False
        ip_token = current_ip.set(request.ip)
        started = time.perf_counter()
        AccessLog.in_progress += 1
        try:
            response = self.get_response(request)
        finally:
            AccessLog.in_progress -= 1
            current_ip.reset(ip_token)
        if AccessLog.is_enabled and not request.in_access_log:
            record = _access_record(request, response, time.perf_counter() - started)
            add_record_of(response, record)
        if response.status_code < 500:
            # Django would log each refusal a second time.
            response._has_been_logged = True  # type: ignore[attr-defined]
        response["X-Request-Id"] = request.id
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        return response


def choose_request_id(client_id: str) -> str:
    """Return the client's id if it is well-formed and contains no secret, or a new one."""
    if _CLIENT_ID.fullmatch(client_id) and not import_string(settings.API_KEY_DETECTOR)(client_id):
        return client_id
    return ids.request_id()


def _access_record(
    request: IdentifiedRequest, response: HttpResponse, seconds: float
) -> AccessRecord:
    account = getattr(request, "account", None)
    return AccessRecord(
        time.time(),
        "static" if request.path_info.startswith(settings.STATIC_URL) else "page",
        request.id,
        account.public_id if account else None,
        None,
        request.ip,
        request.method or "",
        get_route(request.resolver_match),
        response.status_code,
        seconds,
        request.refusal,
    )


class PermissionsPolicyMiddleware(Middleware):
    def __call__(self, request: IdentifiedRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY
        return response


class ShowInvisibleCharactersMiddleware(Middleware):
    """Show characters that could hide or reorder the text around them."""

    def __call__(self, request: IdentifiedRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html")
        if is_page and not response.streaming and INVISIBLE_IN_BYTES.search(response.content):
            response.content = show_invisible_in_html(response.content.decode()).encode()
        return response
