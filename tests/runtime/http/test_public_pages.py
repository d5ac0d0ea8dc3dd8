"""Public pages are compressed and have an ETag; all other pages do not."""

import gzip

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


def test_docs_legal_pages_and_api_description_are_public() -> None:
    expected = {"/docs/", "/docs/api/", "/docs/openapi.json", "/accounts/terms/"}
    assert expected <= set(PUBLIC)
    assert not {path for path in PUBLIC if "login" in path or "signup" in path or "<" in path}


def test_public_page_is_compressed_and_the_same_for_all_visitors() -> None:
    """Or a cache would show one visitor's page to another."""
    for path in PUBLIC:
        plain = Client(headers={"User-Agent": "Another"}).get(path)
        compressed = Client(headers=GZIP).get(path)
        assert "Content-Encoding" not in plain.headers, path
        assert compressed.headers["Content-Encoding"] == "gzip", path
        assert gzip.decompress(compressed.content) == plain.content, path
        assert len(compressed.content) < len(plain.content) / 1.5, path
        assert int(compressed.headers["Content-Length"]) == len(compressed.content), path
        assert b"csrfmiddlewaretoken" not in plain.content, path
        assert not plain.cookies, path


@pytest.mark.parametrize("path", ["/docs/", "/docs/openapi.json", "/accounts/terms/"])
@pytest.mark.parametrize("headers", [{}, GZIP])
def test_unchanged_page_is_a_304_with_the_same_headers(path: str, headers: dict[str, str]) -> None:
    first = Client().get(path, headers=headers)
    again = Client().get(path, headers={**headers, "If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["Vary"] == "Cookie, Accept-Encoding"
    for name in ("Cache-Control", "Content-Security-Policy", "X-Frame-Options"):
        assert again.headers[name] == first.headers[name]
    assert first.headers["Cache-Control"] == "no-cache"


def test_signed_in_user_gets_no_compressed_or_stored_page(owner: User) -> None:
    browser = browser_for(owner, headers=GZIP)
    for path in PUBLIC:
        response = browser.get(path)
        assert response.status_code in (200, 302), path
        assert {"Content-Encoding", "ETag"}.isdisjoint(response.headers), path
        assert "no-store" in response.headers["Cache-Control"], path
        assert "Cookie" in response.headers["Vary"], path


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
