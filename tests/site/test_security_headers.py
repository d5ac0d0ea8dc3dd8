"""With production settings, every response carries the security headers.

tests/site/test_every_page.py looks at those of each page.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path
from pytest_django import Settings

from accounts.models import Account
from apikeys.errors import ApiError
from apikeys.rest.worker_responses import raw_error_response
from config import urls
from config.settings.content_security_policy import PERMISSIONS_HEADER
from tests.servers.production_settings import HOST, URL, read_page_settings
from tests.support.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PROXY: dict[str, Any] = {
    "HTTP_HOST": HOST,
    "HTTP_X_FORWARDED_PROTO": "https",
    "HTTP_REFERER": f"{URL}/",
}
HEADERS = {
    "Strict-Transport-Security": "max-age=63072000; includeSubDomains; preload",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": PERMISSIONS_HEADER,
}
REFUSED = ("insufficient_credits", "rate_limit_exceeded", "internal_error", "service_unavailable")


def crash(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a crash")


crash.login_required = False  # type: ignore[attr-defined]
urlpatterns = [*urls.urlpatterns, path("crash/", crash)]
handler400, handler403 = urls.handler400, urls.handler403
handler404, handler500 = urls.handler404, urls.handler500


@pytest.fixture(autouse=True)
def _in_production() -> Iterator[None]:
    with override_settings(**read_page_settings()):
        yield


@pytest.fixture
def visitor() -> Client:
    return Client(raise_request_exception=False, **PROXY)


def check_headers(response: Any, what: str) -> None:
    for name, value in HEADERS.items():
        assert response.headers.get(name) == value, f"{what}: {name}"
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy, what
    assert "frame-ancestors 'none'" in policy, what
    assert "unsafe-" not in policy, what
    assert "Access-Control-Allow-Credentials" not in response.headers, what
    for cookie in response.cookies.values():
        assert cookie["secure"], f"{what}: {cookie.key}"
        assert cookie["samesite"] in {"Lax", "Strict"}, f"{what}: {cookie.key}"


def test_every_api_response_has_the_security_headers(account: Account, secret: str) -> None:
    secure = {"Host": HOST, "X-Forwarded-Proto": "https"}
    caller = ApiClient(secret)
    responses = [
        caller.validate("deliverable@sandbox.test", **secure),
        *(caller.validate(f"{code}@sandbox.test", **secure) for code in REFUSED),
        caller.get("/v1/me", **secure),
        ApiClient().get("/v1/me", **secure),
        caller.get("/v1/me", **{**secure, "Host": "evil.example"}),
    ]
    for response in responses:
        check_headers(response, str(response.status_code))


def test_refusals_by_the_web_server_have_the_security_headers() -> None:
    head = raw_error_response(ApiError("bad_request"), "198.51.100.7", "no HTTP").partition(
        b"\r\n\r\n"
    )[0]
    lines = head.decode().split("\r\n")[1:]
    response = HttpResponse(headers=dict(line.split(": ", 1) for line in lines))
    check_headers(response, "a refusal of the web server")


@pytest.mark.urls("tests.site.test_security_headers")
@pytest.mark.parametrize(
    ("url", "extra", "status"),
    [
        ("/nowhere/", {}, 404),
        ("/crash/", {}, 500),
        ("/accounts/login/", {"HTTP_HOST": "evil.example"}, 400),
        ("/static/css/base.css", {}, 200),
        ("/static/favicon.svg", {}, 200),
        ("/static/js/page.js", {}, 200),
        ("/static/admin/js/core.js", {}, 200),
        ("/static/nowhere.css", {}, 404),
    ],
)
def test_error_pages_and_static_files_have_the_security_headers(
    visitor: Client, settings: Settings, url: str, extra: dict[str, Any], status: int
) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    # The file stays open until the response is closed.
    with closing(visitor.get(url, **extra)) as response:
        assert response.status_code == status
        check_headers(response, url)


def test_csrf_failure_has_the_security_headers(visitor: Client) -> None:
    visitor.handler.enforce_csrf_checks = True
    response = visitor.post("/accounts/login/", {})
    assert response.status_code == 403
    check_headers(response, "no token")


def test_rate_limited_page_has_the_security_headers(visitor: Client) -> None:
    for _ in range(21):
        response = visitor.post("/accounts/signup/", {"email": "x", "password1": "x"})
    assert response.status_code == 429
    check_headers(response, "too many")


def test_plain_http_redirects_to_the_same_path_over_https(visitor: Client) -> None:
    response = visitor.get("/docs/?a=b", HTTP_X_FORWARDED_PROTO="http")
    assert (response.status_code, response.headers["Location"]) == (301, f"{URL}/docs/?a=b")
    assert response.headers["Permissions-Policy"] == PERMISSIONS_HEADER


def test_cookies_are_secure_and_have_a_prefix(visitor: Client) -> None:
    response = visitor.get("/accounts/login/")
    assert set(response.cookies) == {"__Host-csrf"}
    check_headers(response, "the sign-in page")


def test_permissions_policy_allows_only_clipboard_and_passkeys() -> None:
    allowed = {feature for feature in PERMISSIONS_HEADER.split(", ") if not feature.endswith("=()")}
    assert allowed == {
        "clipboard-write=(self)",
        "publickey-credentials-create=(self)",
        "publickey-credentials-get=(self)",
    }
    assert {"camera=()", "geolocation=()", "microphone=()"} <= set(PERMISSIONS_HEADER.split(", "))
