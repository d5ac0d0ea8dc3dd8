"""What every page shares: its headers, and the pages for what went wrong."""

import re
from pathlib import Path

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_django import Settings

from accounts.models import User
from config.urls import handler400, handler403, handler404, handler500, urlpatterns
from tests.conftest import signed_in

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


def crash(request: HttpRequest) -> HttpResponse:
    secret = "svc_live_a_secret_in_a_local_variable"
    raise RuntimeError(f"a crash beside {len(secret)} characters")


def fail(request: HttpRequest) -> HttpResponse:
    raise OperationalError("the database's host is db.internal")


for view in (crash, fail):
    view.login_required = False  # type: ignore[attr-defined]
urlpatterns = [*urlpatterns, path("crash/", crash), path("fail/", fail)]
__all__ = ["handler400", "handler403", "handler404", "handler500"]


@pytest.fixture
def visitor() -> Client:
    return Client(raise_request_exception=False)


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/accounts/login/", "/nowhere/", "/admin/login/"])
def test_every_page_carries_the_headers_of_a_careful_site(visitor: Client, address: str) -> None:
    headers = visitor.get(address).headers
    policy = headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.django_db
def test_cookies_are_for_this_site_and_its_server_alone(owner: User) -> None:
    cookies = signed_in(owner).cookies
    assert set(cookies) - {"csrf"} == {"session", "known_browser"}
    for cookie in cookies.values():
        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"


@pytest.mark.urls("tests.site.test_shared_pages")
@pytest.mark.parametrize(
    ("address", "status"),
    [("/nowhere/", 404), ("/crash/", 500), ("/fail/", 503), ("/%00", 404), ("/a" * 2000, 404)],
)
def test_an_error_page_names_support_and_the_request(
    visitor: Client, address: str, status: int
) -> None:
    answer = visitor.get(address)
    page = answer.content.decode()
    assert answer.status_code == status
    assert "support@example.com" in page
    assert answer.headers["X-Request-Id"] in page
    assert "svc_live" not in page
    assert "db.internal" not in page
    assert ("Retry-After" in answer.headers) is (status == 503)


def test_a_bad_host_gets_a_page_of_ours(visitor: Client) -> None:
    answer = visitor.get("/accounts/login/", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert answer.headers["X-Request-Id"] in answer.content.decode()


@pytest.mark.django_db
def test_a_form_that_has_expired_says_what_to_do() -> None:
    answer = Client(enforce_csrf_checks=True).post("/accounts/login/", {})
    assert answer.status_code == 403
    assert b"send the form again" in answer.content


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("client-id_123", True),
        ("short", False),
        ("x" * 65, False),
        ("with space 123", False),
        ("svc_live_invented0invented0", False),
        ("", False),
    ],
)
def test_a_clients_own_request_id_is_kept_when_it_is_well_formed(
    visitor: Client, given: str, kept: bool
) -> None:
    request_id = visitor.get("/nowhere/", headers={"x-request-id": given}).headers["X-Request-Id"]
    assert (request_id == given) is kept
    assert kept or re.fullmatch(r"req_[A-Za-z0-9]{20}", request_id)


def test_too_many_tries_get_a_page_of_ours(visitor: Client, db: None) -> None:
    for _ in range(21):
        answer = visitor.post("/accounts/signup/", {"email": "x", "password1": "x"})
    assert answer.status_code == 429
    assert b"Wait five minutes" in answer.content


def test_pages_link_only_to_pages_that_exist(visitor: Client, owner: User) -> None:
    seen, waiting = set(), ["/", "/validation/"]
    client = signed_in(owner)
    while waiting:
        address = waiting.pop()
        seen.add(address)
        answer = client.get(address)
        assert answer.status_code in {200, 302}, address
        if "logout" in address or "attachment" in answer.headers.get("Content-Disposition", ""):
            continue
        links = re.findall(r'href="(/[^"#?]*)', answer.content.decode())
        waiting += [link for link in set(links) - seen - set(waiting) if "/static/" not in link]
    assert len(seen) > 15


def test_no_template_holds_an_inline_script_or_style() -> None:
    for file in TEMPLATES.rglob("*.html"):
        if file.parent.name == "mails":
            continue
        text = file.read_text()
        assert not re.search(r"\sstyle=|<style|\son\w+=", text), file
        for script in re.findall(r"<script[^>]*>", text):
            assert "src=" in script or 'type="application/json"' in script, file


def test_mails_are_named_as_files_only_without_a_mail_server(
    visitor: Client, settings: Settings, db: None
) -> None:
    assert b"This copy has no mail server" in visitor.get("/accounts/password/reset/done/").content
    settings.MAILS_ARE_FILES = False
    page = visitor.get("/accounts/password/reset/done/").content
    assert b"This copy has no mail server" not in page
