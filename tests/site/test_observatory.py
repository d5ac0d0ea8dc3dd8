"""With production settings, every page earns the highest grade of Mozilla's HTTP Observatory.

The pages are read from the URL configuration. A page has 100 points, plus 10 for the content
security policy, 10 for the resource policy, 5 for the referrer policy, 5 for frame protection, and
5 more if it sets a secure cookie.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path
from pytest_django import Settings

from accounts.models import Account, User
from apikeys.errors import ApiError
from apikeys.rest.worker_responses import raw_error_response
from config import urls
from config.settings.content_security_policy import PERMISSIONS_HEADER
from tests.servers.production_settings import HOST, URL, read_page_settings
from tests.site.observatory import HIGHEST_GRADE, ScannedResponse, score
from tests.support.api_client import ApiClient
from tests.support.pages import (
    all_pages,
    browser_for,
    mark_second_factor_used,
    populate_account,
    resolves_to,
)

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PROXY: dict[str, Any] = {
    "HTTP_HOST": HOST,
    "HTTP_X_FORWARDED_PROTO": "https",
    "HTTP_REFERER": f"{URL}/",
}
EXPECTED_POINTS = 130
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


@pytest.fixture
def superuser(owner: User) -> Client:
    """A browser of an owner who is also a superuser and can view every page."""
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    return browser_for(User.objects.get(pk=owner.pk), raise_request_exception=False, **PROXY)


def grade_response(
    response: Any, http_redirect: str = f"{URL}/"
) -> tuple[str, int, dict[str, int]]:
    """Return the grade, the points without those for cookies, and the points of each rule."""
    is_html = response.headers.get("Content-Type", "").startswith("text/html")
    scanned = ScannedResponse(
        url=f"{URL}/",
        headers={name.lower(): value for name, value in response.headers.items()},
        cookies=[morsel.OutputString() for morsel in response.cookies.values()],
        html=response.content.decode() if is_html else "",
        http_redirect=http_redirect,
    )
    result = score(scanned)
    modifiers = dict(result.modifiers)
    assert modifiers.pop("cookies") == (5 if response.cookies else 0)
    return result.grade, 100 + sum(modifiers.values()), modifiers


def assert_highest(response: Any, what: str) -> None:
    grade, points, modifiers = grade_response(response)
    assert (grade, points) == (HIGHEST_GRADE, EXPECTED_POINTS), f"{what}: {modifiers}"
    # The Observatory gives no points for this header.
    assert response.headers["Permissions-Policy"] == PERMISSIONS_HEADER, what


@pytest.mark.parametrize("is_admin", [False, pytest.param(True, marks=pytest.mark.proof)])
def test_every_page_earns_the_highest_grade(
    superuser: Client, visitor: Client, owner: User, account: Account, is_admin: bool
) -> None:
    values = populate_account(owner, account)
    mark_second_factor_used(superuser, owner)
    for page in all_pages().values():
        if page.is_admin is not is_admin:
            continue
        url = page.path(values)
        assert resolves_to(page, url), f"{page.route} is not at {url}"
        for response in (superuser.get(url), visitor.get(url)):
            assert response.status_code < 500, url
            assert_highest(response, f"{url}: {response.status_code}")


@pytest.mark.proof
def test_every_response_to_a_post_earns_the_highest_grade(
    superuser: Client, owner: User, account: Account
) -> None:
    values = populate_account(owner, account)
    mark_second_factor_used(superuser, owner)
    for page in all_pages().values():
        url = page.path(values)
        response = superuser.post(url)
        assert response.status_code < 500, url
        assert_highest(response, f"{url}: {response.status_code}")
        # One of the pages signs the user out.
        superuser.force_login(owner)
        mark_second_factor_used(superuser, owner)


def test_every_api_response_earns_the_highest_grade(account: Account, secret: str) -> None:
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
        assert_highest(response, str(response.status_code))


def test_refusals_by_the_web_server_earn_the_highest_grade() -> None:
    head = raw_error_response(ApiError("bad_request"), "198.51.100.7", "no HTTP").partition(
        b"\r\n\r\n"
    )[0]
    lines = head.decode().split("\r\n")[1:]
    response = HttpResponse(headers=dict(line.split(": ", 1) for line in lines))
    assert_highest(response, "a refusal of the web server")


@pytest.mark.urls("tests.site.test_observatory")
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
def test_error_pages_and_static_files_earn_the_highest_grade(
    visitor: Client, settings: Settings, url: str, extra: dict[str, Any], status: int
) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    # The file stays open until the response is closed.
    with closing(visitor.get(url, **extra)) as response:
        assert response.status_code == status
        assert_highest(response, url)


def test_csrf_failure_earns_the_highest_grade(visitor: Client) -> None:
    visitor.handler.enforce_csrf_checks = True
    response = visitor.post("/accounts/login/", {})
    assert response.status_code == 403
    assert_highest(response, "no token")


def test_rate_limited_page_earns_the_highest_grade(visitor: Client) -> None:
    for _ in range(21):
        response = visitor.post("/accounts/signup/", {"email": "x", "password1": "x"})
    assert response.status_code == 429
    assert_highest(response, "too many")


def test_plain_http_redirects_to_the_same_path_over_https(visitor: Client) -> None:
    response = visitor.get("/docs/?a=b", HTTP_X_FORWARDED_PROTO="http")
    assert (response.status_code, response.headers["Location"]) == (301, f"{URL}/docs/?a=b")
    http_redirect = visitor.get("/", HTTP_X_FORWARDED_PROTO="http").headers["Location"]
    assert response.headers["Permissions-Policy"] == PERMISSIONS_HEADER
    assert grade_response(visitor.get("/docs/"), http_redirect)[:2] == (
        HIGHEST_GRADE,
        EXPECTED_POINTS,
    )


def test_page_with_secure_cookies_earns_5_more_points(visitor: Client) -> None:
    response = visitor.get("/accounts/login/")
    assert set(response.cookies) == {"__Host-csrf"}
    headers = {name.lower(): value for name, value in response.headers.items()}
    cookies = [morsel.OutputString() for morsel in response.cookies.values()]
    result = score(ScannedResponse(f"{URL}/", headers, cookies, "", f"{URL}/"))
    assert (result.grade, result.points) == (HIGHEST_GRADE, EXPECTED_POINTS + 5)


def test_permissions_policy_allows_only_clipboard_and_passkeys() -> None:
    allowed = {feature for feature in PERMISSIONS_HEADER.split(", ") if not feature.endswith("=()")}
    assert allowed == {
        "clipboard-write=(self)",
        "publickey-credentials-create=(self)",
        "publickey-credentials-get=(self)",
    }
    assert {"camera=()", "geolocation=()", "microphone=()"} <= set(PERMISSIONS_HEADER.split(", "))


@pytest.mark.parametrize(
    ("change", "points"),
    [
        ({"content-security-policy": ""}, 75),
        ({"content-security-policy": "default-src 'none'; script-src 'unsafe-inline'"}, 80),
        ({"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}, 115),
        ({"content-security-policy": "default-src 'none'; img-src http://cdn.example"}, 105),
        ({"content-security-policy": "default-src 'self'; frame-ancestors 'none'"}, 125),
        ({"strict-transport-security": "max-age=86400"}, 120),
        ({"strict-transport-security": "includeSubDomains"}, 80),
        ({"referrer-policy": "unsafe-url"}, 120),
        ({"x-content-type-options": ""}, 125),
        ({"cross-origin-resource-policy": ""}, 120),
        (
            {
                "access-control-allow-origin": "https://a.example",
                "access-control-allow-credentials": "true",
            },
            50,
        ),
    ],
)
def test_each_weakness_costs_its_points(
    visitor: Client, change: dict[str, str], points: int
) -> None:
    page = visitor.get("/docs/")
    headers = {name.lower(): value for name, value in page.headers.items()}
    assert (
        score(ScannedResponse(f"{URL}/", {**headers, **change}, http_redirect=f"{URL}/")).points
        == points
    )
