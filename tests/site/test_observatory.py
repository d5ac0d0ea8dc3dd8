"""Every page, with the settings of production, earns the highest grade of Mozilla's Observatory.

The pages are read from the URL table. Points: 100, and 10 for the content policy, 10 for the
resource policy, 5 for the referrer policy, 5 against framing; 5 more where a cookie is set.
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
from apikeys.rest.server_refusals import raw_error_response
from config import urls
from config.settings.content_security_policy import PERMISSIONS
from tests.servers.in_production import HOST, URL, page_settings
from tests.site.observatory import HIGHEST_GRADE, Answer, score
from tests.support.api_client import ApiClient
from tests.support.pages import all_pages, browser_of, leads_to, prove_factor, settle

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PROXY: dict[str, Any] = {
    "HTTP_HOST": HOST,
    "HTTP_X_FORWARDED_PROTO": "https",
    "HTTP_REFERER": f"{URL}/",
}
EXPECTED = 130
REFUSED = ("insufficient_credits", "rate_limit_exceeded", "internal_error", "service_unavailable")


def crash(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a crash")


crash.login_required = False  # type: ignore[attr-defined]
urlpatterns = [*urls.urlpatterns, path("crash/", crash)]
handler400, handler403 = urls.handler400, urls.handler403
handler404, handler500 = urls.handler404, urls.handler500


@pytest.fixture(autouse=True)
def _in_production() -> Iterator[None]:
    with override_settings(**page_settings()):
        yield


@pytest.fixture
def visitor() -> Client:
    return Client(raise_request_exception=False, **PROXY)


@pytest.fixture
def insider(owner: User) -> Client:
    """Who may see everything: an owner who is staff."""
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    return browser_of(User.objects.get(pk=owner.pk), raise_request_exception=False, **PROXY)


def judged(answer: Any, moved: str = f"{URL}/") -> tuple[str, int, dict[str, int]]:
    """Grade and points without those for cookies, and what each rule gave."""
    is_html = answer.headers.get("Content-Type", "").startswith("text/html")
    one = Answer(
        url=f"{URL}/",
        headers={name.lower(): value for name, value in answer.headers.items()},
        cookies=[morsel.OutputString() for morsel in answer.cookies.values()],
        html=answer.content.decode() if is_html else "",
        moved_from_http=moved,
    )
    found = score(one)
    modifiers = dict(found.modifiers)
    assert modifiers.pop("cookies") == (5 if answer.cookies else 0)
    return found.grade, 100 + sum(modifiers.values()), modifiers


def assert_highest(answer: Any, what: str) -> None:
    grade, points, modifiers = judged(answer)
    assert (grade, points) == (HIGHEST_GRADE, EXPECTED), f"{what}: {modifiers}"
    # It earns no points there.
    assert answer.headers["Permissions-Policy"] == PERMISSIONS, what


@pytest.mark.parametrize("of_staff", [False, pytest.param(True, marks=pytest.mark.proof)])
def test_every_page_earns_the_highest_grade(
    insider: Client, visitor: Client, owner: User, account: Account, of_staff: bool
) -> None:
    places = settle(owner, account)
    prove_factor(insider, owner)
    for page in all_pages().values():
        if page.is_admin is not of_staff:
            continue
        address = page.address(places)
        assert leads_to(page, address), f"{page.route} is not at {address}"
        for answer in (insider.get(address), visitor.get(address)):
            assert answer.status_code < 500, address
            assert_highest(answer, f"{address}: {answer.status_code}")


@pytest.mark.proof
def test_every_page_that_is_sent_something_earns_it(
    insider: Client, owner: User, account: Account
) -> None:
    places = settle(owner, account)
    prove_factor(insider, owner)
    for page in all_pages().values():
        address = page.address(places)
        answer = insider.post(address)
        assert answer.status_code < 500, address
        assert_highest(answer, f"{address}: {answer.status_code}")
        # One of the pages signs out.
        insider.force_login(owner)
        prove_factor(insider, owner)


def test_every_answer_of_the_api_earns_it(account: Account, secret: str) -> None:
    secure = {"Host": HOST, "X-Forwarded-Proto": "https"}
    caller = ApiClient(secret)
    answers = [
        caller.validate("deliverable@sandbox.test", **secure),
        *(caller.validate(f"{code}@sandbox.test", **secure) for code in REFUSED),
        caller.get("/v1/me", **secure),
        ApiClient().get("/v1/me", **secure),
        caller.get("/v1/me", **{**secure, "Host": "evil.example"}),
    ]
    for answer in answers:
        assert_highest(answer, str(answer.status_code))


def test_what_the_web_server_refuses_itself_earns_it() -> None:
    head = raw_error_response(ApiError("bad_request"), "198.51.100.7", "no HTTP").partition(
        b"\r\n\r\n"
    )[0]
    lines = head.decode().split("\r\n")[1:]
    answer = HttpResponse(headers=dict(line.split(": ", 1) for line in lines))
    assert_highest(answer, "a refusal of the web server")


@pytest.mark.urls("tests.site.test_observatory")
@pytest.mark.parametrize(
    ("address", "given", "status"),
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
def test_errors_and_files_earn_it(
    visitor: Client, settings: Settings, address: str, given: dict[str, Any], status: int
) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    # Files are open until they are sent.
    with closing(visitor.get(address, **given)) as answer:
        assert answer.status_code == status
        assert_highest(answer, address)


def test_a_form_without_its_token_is_refused_with_it(visitor: Client) -> None:
    visitor.handler.enforce_csrf_checks = True
    answer = visitor.post("/accounts/login/", {})
    assert answer.status_code == 403
    assert_highest(answer, "no token")


def test_too_many_tries_are_refused_with_it(visitor: Client) -> None:
    for _ in range(21):
        answer = visitor.post("/accounts/signup/", {"email": "x", "password1": "x"})
    assert answer.status_code == 429
    assert_highest(answer, "too many")


def test_plain_http_leads_to_the_same_address_over_https(visitor: Client) -> None:
    answer = visitor.get("/docs/?a=b", HTTP_X_FORWARDED_PROTO="http")
    assert (answer.status_code, answer.headers["Location"]) == (301, f"{URL}/docs/?a=b")
    moved = visitor.get("/", HTTP_X_FORWARDED_PROTO="http").headers["Location"]
    assert answer.headers["Permissions-Policy"] == PERMISSIONS
    assert judged(visitor.get("/docs/"), moved)[:2] == (HIGHEST_GRADE, EXPECTED)


def test_a_page_that_sets_cookies_has_5_points_more(visitor: Client) -> None:
    answer = visitor.get("/accounts/login/")
    assert set(answer.cookies) == {"__Host-csrf"}
    headers = {name.lower(): value for name, value in answer.headers.items()}
    cookies = [one.OutputString() for one in answer.cookies.values()]
    found = score(Answer(f"{URL}/", headers, cookies, "", f"{URL}/"))
    assert (found.grade, found.points) == (HIGHEST_GRADE, EXPECTED + 5)


def test_pages_may_use_what_copy_buttons_and_passkeys_need_and_nothing_else() -> None:
    allowed = {one for one in PERMISSIONS.split(", ") if not one.endswith("=()")}
    assert allowed == {
        "clipboard-write=(self)",
        "publickey-credentials-create=(self)",
        "publickey-credentials-get=(self)",
    }
    assert {"camera=()", "geolocation=()", "microphone=()"} <= set(PERMISSIONS.split(", "))


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
def test_each_fault_costs_its_points(visitor: Client, change: dict[str, str], points: int) -> None:
    page = visitor.get("/docs/")
    headers = {name.lower(): value for name, value in page.headers.items()}
    assert (
        score(Answer(f"{URL}/", {**headers, **change}, moved_from_http=f"{URL}/")).points == points
    )
