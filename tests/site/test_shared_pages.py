"""Cookies, links and scripts of every page, and error pages."""

import re
from pathlib import Path

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path, reverse
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Account, User
from config.server.form_limits import MAX_LARGER_FORM_BYTES
from config.urls import handler400, handler403, handler404, handler429, handler500, urlpatterns
from tests.conftest import signed_in, signed_in_by_form

pytestmark = pytest.mark.anywhere

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


def crash(request: HttpRequest) -> HttpResponse:
    secret = "svc_live_a_secret_in_a_local_variable"
    raise RuntimeError(f"a crash with {len(secret)} characters")


def fail(request: HttpRequest) -> HttpResponse:
    raise OperationalError("the database's host is db.internal")


for view in (crash, fail):
    view.login_required = False  # type: ignore[attr-defined]
urlpatterns = [*urlpatterns, path("crash/", crash), path("fail/", fail)]
__all__ = ["handler400", "handler403", "handler404", "handler429", "handler500"]


@pytest.fixture
def visitor() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.django_db
def test_cookies_are_http_only_and_same_site(owner: User) -> None:
    cookies = signed_in_by_form(owner).cookies
    assert set(cookies) - {"csrf"} == {"session", "known_browser"}
    for cookie in cookies.values():
        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"


@pytest.mark.urls("tests.site.test_shared_pages")
@pytest.mark.parametrize(
    ("url", "status"),
    [("/nowhere/", 404), ("/crash/", 500), ("/fail/", 503), ("/%00", 404), ("/a" * 2000, 404)],
)
def test_error_page_shows_support_address_and_request_id(
    visitor: Client, url: str, status: int
) -> None:
    response = visitor.get(url)
    page = response.content.decode()
    assert response.status_code == status
    assert "support@example.com" in page
    assert "Go to the home page" in page
    assert response.headers["X-Request-Id"] in page
    assert "svc_live" not in page
    assert "db.internal" not in page
    assert ("Retry-After" in response.headers) is (status == 503)


def test_unknown_host_gets_our_error_page(visitor: Client) -> None:
    response = visitor.get("/accounts/login/", headers={"host": "evil.example"})
    assert response.status_code == 400
    assert response.headers["X-Request-Id"] in response.content.decode()


@pytest.mark.urls("tests.site.test_shared_pages")
@pytest.mark.parametrize(("url", "status"), [("/nowhere/", 404), ("/crash/", 500), ("/fail/", 503)])
def test_error_page_keeps_the_navigation_of_signed_in_users(
    owner: User,
    account: Account,
    url: str,
    status: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    browser = signed_in(owner)
    browser.raise_request_exception = False
    browser.post("/accounts/profile/preferences/", {"theme": "dark", "date_format": "dmy"})
    # The session, the user, and the memberships, before the view.
    with django_assert_num_queries(3):
        response = browser.get(url)
    page = response.content.decode()
    assert response.status_code == status
    assert '<nav class="navigation" aria-label="Main">' in page
    assert account.name in page
    assert 'data-theme="dark"' in page
    assert "Go to Overview" in page


def test_failed_session_still_gets_an_error_page(
    visitor: Client, owner: User, settings: Settings
) -> None:
    visitor.cookies = signed_in(owner).cookies
    settings.SESSION_ENGINE = "tests.site.broken_sessions"
    response = visitor.get("/accounts/profile/")
    assert response.status_code == 503
    assert response.headers["X-Request-Id"] in response.content.decode()


def test_form_that_is_too_large_says_so(visitor: Client, settings: Settings, db: None) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    response = visitor.post("/accounts/login/", {"login": "a" * 200})
    assert response.status_code == 413
    assert b"This form is too large" in response.content


def test_list_that_is_too_large_for_one_form_says_how_to_upload_it(owner: User) -> None:
    visitor, form = signed_in(owner), reverse("lists:create-list")
    length = str(MAX_LARGER_FORM_BYTES + 1)
    response = visitor.post(form, {"name": "customers"}, CONTENT_LENGTH=length)
    assert response.status_code == 413
    assert b"Turn on JavaScript and choose the file again" in response.content
    assert b"app-frame" in response.content


@pytest.mark.parametrize(
    ("request_id", "is_valid"),
    [
        ("client-id_123", True),
        ("short", False),
        ("x" * 65, False),
        ("with space 123", False),
        ("svc_live_invented0invented0", False),
        ("", False),
    ],
)
def test_well_formed_request_id_of_a_client_is_reused(
    visitor: Client, request_id: str, is_valid: bool
) -> None:
    response = visitor.get("/nowhere/", headers={"x-request-id": request_id})
    returned = response.headers["X-Request-Id"]
    assert (returned == request_id) is is_valid
    assert is_valid or re.fullmatch(r"req_[A-Za-z0-9]{20}", returned)


def test_pages_link_only_to_pages_that_exist(visitor: Client, owner: User) -> None:
    visited, queue = set(), ["/", "/validation/"]
    client = signed_in(owner)
    while queue:
        url = queue.pop()
        visited.add(url)
        response = client.get(url)
        assert response.status_code in {200, 302}, url
        if "logout" in url or "attachment" in response.headers.get("Content-Disposition", ""):
            continue
        links = re.findall(r'href="(/[^"#?]*)', response.content.decode())
        queue += [link for link in set(links) - visited - set(queue) if "/static/" not in link]
    assert len(visited) > 15


def test_no_template_holds_an_inline_script_or_style() -> None:
    for file in TEMPLATES.rglob("*.html"):
        if file.parent.name == "mails":
            continue
        text = file.read_text()
        assert not re.search(r"\sstyle=|<style|\son\w+=", text), file
        for script in re.findall(r"<script[^>]*>", text):
            assert "src=" in script or 'type="application/json"' in script, file
