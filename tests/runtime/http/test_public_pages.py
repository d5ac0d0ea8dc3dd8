"""Public pages are compressed and have an ETag; all other pages do not."""

import gzip
from functools import cache
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve

from accounts.models import User
from tests.support.pages import all_pages, browser_for

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

GZIP = {"Accept-Encoding": "gzip"}
# Every page whose view is decorated with public_page. None of them has a placeholder.
PUBLIC = [
    f"/{page.route}"
    for page in all_pages().values()
    if getattr(page.pattern.callback, "is_public_page", False)
]
each_page = pytest.mark.parametrize("path", PUBLIC)


@cache
def visit_once(path: str, *, accepts_gzip: bool = False) -> Any:
    """Return a visitor's first response, which several tests look at."""
    return Client().get(path, headers=GZIP if accepts_gzip else {})


def test_docs_legal_pages_and_api_description_are_public() -> None:
    expected = {"/docs/", "/docs/api/", "/docs/openapi.json", "/accounts/terms/"}
    assert expected <= set(PUBLIC)
    assert not {path for path in PUBLIC if "login" in path or "signup" in path or "<" in path}


@each_page
def test_public_page_is_compressed(path: str) -> None:
    plain, compressed = visit_once(path), visit_once(path, accepts_gzip=True)
    assert "Content-Encoding" not in plain.headers
    assert compressed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(compressed.content) == plain.content
    assert len(compressed.content) < len(plain.content) / 1.5
    assert int(compressed.headers["Content-Length"]) == len(compressed.content)


@pytest.mark.parametrize(
    ("path", "accepts_gzip"), [("/docs/", False), *((path, True) for path in PUBLIC)]
)
def test_unchanged_page_is_a_304_with_the_headers_of_the_page(
    path: str, accepts_gzip: bool
) -> None:
    first = visit_once(path, accepts_gzip=accepts_gzip)
    headers = GZIP if accepts_gzip else {}
    again = Client().get(path, headers={**headers, "If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["Vary"] == "Cookie, Accept-Encoding"
    for name in ("Cache-Control", "Content-Security-Policy", "X-Frame-Options"):
        assert again.headers[name] == first.headers[name]
    assert first.headers["Cache-Control"] == "no-cache"


@each_page
def test_public_page_is_the_same_for_all_visitors(path: str) -> None:
    """Or a cache would show one visitor's page to another."""
    first, second = visit_once(path), Client(headers={"User-Agent": "Another"}).get(path)
    assert first.content == second.content
    assert b"csrfmiddlewaretoken" not in first.content
    assert not first.cookies


@each_page
def test_signed_in_user_gets_no_compressed_or_stored_page(path: str, owner: User) -> None:
    response = browser_for(owner).get(path, headers=GZIP)
    assert response.status_code in (200, 302)
    assert "Content-Encoding" not in response.headers
    assert "ETag" not in response.headers
    assert "no-store" in response.headers["Cache-Control"]
    assert "Cookie" in response.headers["Vary"]


def test_visitor_with_a_session_gets_no_compressed_page() -> None:
    browser = Client()
    browser.cookies[settings.SESSION_COOKIE_NAME] = "a-session-that-has-ended"
    response = browser.get("/docs/", headers=GZIP)
    assert "Content-Encoding" not in response.headers
    assert "ETag" not in response.headers


@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/"])
def test_page_with_a_csrf_token_is_not_compressed(path: str) -> None:
    response = Client().get(path, headers=GZIP)
    assert b"csrfmiddlewaretoken" in response.content
    assert "ETag" not in response.headers


def test_token_on_a_page_marked_as_public_prevents_compression(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = resolve("/accounts/login/").func
    monkeypatch.setattr(view, "is_public_page", True, raising=False)
    response = Client().get("/accounts/login/", headers=GZIP)
    assert b"csrfmiddlewaretoken" in response.content
    assert "ETag" not in response.headers
