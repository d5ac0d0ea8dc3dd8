"""Every route and method returns the documented shape and headers, whatever goes wrong."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.db import InternalError, OperationalError
from django.http import Http404, HttpRequest
from django.test import override_settings
from django.urls import URLPattern, get_resolver, re_path

from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey
from apikeys.rest.view import ApiView
from config.urls import urlpatterns
from tests.support.api_client import JSON, ApiClient, error_code
from tests.support.log_records import LogCapture

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

METHODS = (
    *("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"),
    *("PROPFIND", "MKCOL", "LOCK", "PURGE", "LINK", "REPORT", "QUERY", "BREW"),
)
SECRET = "svc_live_1nAVariableWhenTheViewCrashes"


def api_paths() -> Iterator[str]:
    """Yield the paths of all routes under /v1, with and without a slash, and unknown paths."""
    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, URLPattern) and str(pattern.pattern).startswith("^v1"):
            path = "/" + re.sub(r"\^|\(.*|/\?\$", "", str(pattern.pattern))
            yield from (path, f"{path}/")
    yield from (
        *("/v1/nothing", "/v1/validate/more", "/v1/validate%0A", "/v1/me/%0A", "/v1/%0A"),
        *("/v1//me", "/v1/me//", "/v1/é"),
    )


PATHS = sorted(set(api_paths()))
READ = {"GET", "HEAD"}
OPERATIONS = {"/v1/validate": {"POST"}, "/v1/me": READ, "/v1/credits": READ, "/v1/usage": READ}


def test_all_but_metered_calls_use_the_slots_of_their_account() -> None:
    views = {getattr(route.callback, "cls", ApiView) for route in get_resolver().url_patterns}
    exempt = {view.__name__ for view in views if not view.uses_account_slots}
    # Tools take those of their operation.
    assert exempt == {"ValidateView", "ValidateBatchView", "McpView"}


def assert_headers(response: Any) -> None:
    headers = response.headers
    limit, remaining = int(headers["X-RateLimit-Limit"]), int(headers["X-RateLimit-Remaining"])
    assert 0 <= remaining <= limit
    assert int(headers["X-RateLimit-Reset"]) > 1_700_000_000
    assert re.fullmatch(rf'"\w+";q={limit};w=60', headers["RateLimit-Policy"])
    assert re.fullmatch(rf'"\w+";r={remaining};t=\d+', headers["RateLimit"])
    assert re.fullmatch(r"[A-Za-z0-9_-]{8,64}", headers["X-Request-Id"])
    assert ("Retry-After" in headers) is (response.status_code == 429)
    assert ("WWW-Authenticate" in headers) is (response.status_code == 401)
    assert headers["Content-Type"] == JSON
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert not [name for name in headers if name.startswith(("Access-Control", "Set-Cookie"))]


def assert_error(response: Any, code: str) -> None:
    assert_headers(response)
    assert response.status_code == REFUSALS[code].status
    if response.request["REQUEST_METHOD"] == "HEAD":
        return
    (error,) = response.json().values()
    assert list(error) == ["type", "code", "message", "param", "details", "doc_url", "request_id"]
    assert error["code"] == code
    assert error["type"] == REFUSALS[code].type
    assert error["doc_url"].endswith(f"/docs/errors/#{code}")
    assert error["request_id"] == response.headers["X-Request-Id"]


@pytest.mark.parametrize("path", PATHS)
def test_every_path_and_method_without_a_key_is_401_and_counted(path: str) -> None:
    caller = ApiClient()
    for used, method in enumerate(METHODS, 1):
        response = caller.call(method, path)
        assert_error(response, "missing_api_key")
        assert response.headers["X-RateLimit-Remaining"] == str(60 - used)


@pytest.mark.parametrize("path", PATHS)
def test_every_path_and_method_with_a_key_has_the_documented_response(
    caller: ApiClient, path: str
) -> None:
    allowed = OPERATIONS.get(path.removesuffix("/"))
    for used, method in enumerate(METHODS, 1):
        response = caller.call(method, path)
        if allowed is None:
            assert_error(response, "not_found")
        elif method not in allowed:
            assert_error(response, "method_not_allowed")
            assert set(response.headers["Allow"].split(", ")) == allowed
        elif method == "POST":
            assert_error(response, "invalid_json")
        else:
            assert_headers(response)
            assert response.status_code == 200
        assert response.headers["X-RateLimit-Remaining"] == str(60 - used)


def test_request_id_of_the_client_is_in_header_and_body(caller: ApiClient) -> None:
    response = caller.get("/v1/nothing", X_Request_Id="client-id_123")
    assert response.headers["X-Request-Id"] == "client-id_123"
    assert response.json()["error"]["request_id"] == "client-id_123"


def test_key_is_not_accepted_as_a_request_id(caller: ApiClient, secret: str) -> None:
    for request_id in (secret, secret[9:], f"id-{secret[9:]}"):
        response = caller.get("/v1/me", X_Request_Id=request_id)
        assert response.headers["X-Request-Id"].startswith("req_")
    for request_id in ("a" * 64, "5f" * 16, "A1" * 19):
        assert caller.get("/v1/me", X_Request_Id=request_id).headers["X-Request-Id"] == request_id


PLACES = [
    *("/v1/{}", "/{}", "/v1/me?key={}", "/v1/{}/{}", "/docs/{}/"),
    *("/v1/%2573vc_live_{s}", "/v1/svc-live-{s}", "/v1/svc_live_/{s}", "/v1/svc_live_%20{s}"),
    *("/v1/svc_live_%0A{s}", "/v1/{s}", "/{s}/", "/v1/SVC_LIVE_{s}", "/v1/svc_live_'{s}"),
]


@pytest.mark.parametrize("place", PLACES)
def test_misplaced_key_is_not_logged(secret: str, records: LogCapture, place: str) -> None:
    ApiClient().get(place.format(secret, secret, s=secret[9:]))
    ApiClient().get("/v1/me", X_Request_Id=secret[9:])
    assert len(records.access_records()) == 2
    assert secret[9:20] not in records.text


class RaisingView(ApiView):
    error: Exception = Http404("not in this account")

    def get(self, request: Any) -> NoReturn:
        local = f"{SECRET} in a local variable"
        assert local
        raise self.error


def crash_before_the_key(request: HttpRequest) -> NoReturn:
    raise ValueError(SECRET)


crashing = [
    re_path(r"^v1/crash$", RaisingView.as_view(error=RuntimeError(f"crashed with {SECRET}"))),
    re_path(r"^v1/crash-early$", crash_before_the_key),
    re_path(r"^v1/no-database$", RaisingView.as_view(error=OperationalError(f"lost {SECRET}"))),
    re_path(r"^v1/standby$", RaisingView.as_view(error=InternalError("read-only transaction"))),
    re_path(r"^v1/not-found$", RaisingView.as_view()),
    *urlpatterns,
]


class CrashingUrls:
    urlpatterns = crashing
    from config.urls import handler400, handler403, handler404, handler500


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v1/crash", "internal_error"),
        ("/v1/crash-early", "internal_error"),
        ("/v1/no-database", "service_unavailable"),
        ("/v1/standby", "service_unavailable"),
    ],
)
def test_crash_has_the_documented_shape_and_reveals_nothing(
    caller: ApiClient, records: LogCapture, path: str, code: str, debug: bool
) -> None:
    with override_settings(ROOT_URLCONF=CrashingUrls, DEBUG=debug):
        response = caller.get(path)
    assert_error(response, code)
    retry_after = response.json()["error"]["details"].get("retry_after", 0)
    assert (retry_after >= 1) is (code == "service_unavailable")
    bucket = '"address";r=60' if path == "/v1/crash-early" else '"account";r=59'
    assert response.headers["RateLimit"].startswith(bucket)
    assert SECRET not in response.content.decode() + records.text
    assert "Traceback" not in response.content.decode() + records.text
    assert f"{Path(__file__).name}:" in records.text


def test_http404_of_a_view_has_the_documented_shape(caller: ApiClient) -> None:
    with override_settings(ROOT_URLCONF=CrashingUrls):
        assert_error(caller.get("/v1/not-found"), "not_found")


def test_unknown_host_is_400_and_consumes_nothing(caller: ApiClient) -> None:
    for _ in range(2):
        response = caller.get("/v1/me", Host="evil.example")
        assert_error(response, "bad_request")
        assert response.headers["RateLimit"].startswith('"address";r=60')


def test_request_is_logged_once(caller: ApiClient, key: ApiKey, records: LogCapture) -> None:
    caller.get("/v1/nothing%0A%1b[31m%E2%80%AE", X_Request_Id="client-id_123")
    json_line, text_line = records.lines
    record = json.loads(json_line)
    assert (record["request_id"], record["key_id"]) == ("client-id_123", key.public_id)
    assert (record["status"], record["code"], record["route"]) == (404, "not_found", "/v1")
    assert f"GET /v1 404 not_found {key.public_id}" in text_line


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_paths_that_only_resemble_the_api_get_an_html_404(method: str) -> None:
    for path in ("/v1%0A", "/v1%0A/me", "/v1x", "/V1/me", "/v2/me", "/docs/v1/"):
        response = ApiClient().call(method, path)
        assert response.status_code == 404
        assert response.headers["Content-Type"].startswith("text/html")


CHUNKED = {"Transfer-Encoding": "chunked"}
TEXT = {"Content_Type": "text/plain"}


def test_request_with_several_errors_gets_the_first_in_the_documented_order(
    caller: ApiClient,
) -> None:
    html: dict[str, str] = {"Accept": "text/html"}
    for method, path, body, headers, code in (
        ("GET", "/v1/nothing", b"", html, "not_found"),
        ("GET", "/v1/validate", b"", html, "method_not_allowed"),
        ("POST", "/v1/validate", b"", {**html, **CHUNKED}, "not_acceptable"),
        # Behind a server that can't read it.
        ("POST", "/v1/validate", b"", CHUNKED, "length_required"),
        ("POST", "/v1/validate", b"x" * 8193, TEXT, "request_too_large"),
        ("POST", "/v1/validate", b"no json", TEXT, "unsupported_media_type"),
        # An unknown query parameter is the last error.
        ("GET", "/v1/nothing?form=1", b"", {}, "not_found"),
        ("GET", "/v1/validate?form=1", b"", {}, "method_not_allowed"),
        ("GET", "/v1/me?form=1", b"", html, "not_acceptable"),
        ("GET", "/v1/usage?form=1&from=yesterday", b"", {}, "invalid_field"),
        ("POST", "/v1/validate?form=1", b"no json", {}, "invalid_json"),
        ("POST", "/v1/validate?form=1", b"{}", {}, "missing_field"),
        ("POST", "/v1/validate?form=1", b'{"email": 1}', {}, "invalid_field"),
    ):
        assert error_code(caller.call(method, path, body, **headers)) == code, (path, body)


def test_401_429_and_403_precede_all_others(caller: ApiClient) -> None:
    for path in ("/v1/nothing", "/v1/usage?form=1"):
        response = ApiClient().call("PUT", path, b"x" * 9000, Accept="text/html")
        assert error_code(response) == "missing_api_key"
    Account.objects.update(requests_per_minute=1, suspended_at="2026-01-01T00:00Z")
    assert error_code(caller.get("/v1/nothing")) == "account_suspended"
    assert error_code(caller.get("/v1/nothing")) == "rate_limit_exceeded"
