"""What holds for every page. The pages are read from the URL configuration, including new ones."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, User
from reference.docs import views
from tests.servers.product import ROOT
from tests.servers.production_settings import read_page_settings
from tests.site.test_security_headers import PROXY, check_headers
from tests.support.hostile_text import (
    INVISIBLE,
    SYSTEM_TEXT,
    USER_TEXT,
    fill_with_hostile_text,
    find_text_columns,
)
from tests.support.pages import all_pages, browser_for, populate_account, resolves_to

# Stripe signs its events instead of sending a CSRF token: tests/credits/payments/test_stripe.py.
SIGNED = {"credits/stripe/"}
# Pages that need no sign-in.
OPEN = {
    *("", "credits/stripe/", "favicon.ico", "brand-mark.svg", ".well-known/security.txt"),
    *("llms.txt", "llms-full.txt"),
    *("accounts/terms/", "accounts/privacy/", "accounts/data-processing/"),
    *("accounts/account/closed/", "accounts/inactive/", "accounts/invitations/<token:token>/"),
    *("accounts/login/", "accounts/signup/", "accounts/signup/correction/"),
    "accounts/2fa/webauthn/login/",
    *("accounts/google/login/", "accounts/google/login/callback/", "accounts/signup/provider/"),
    *("accounts/github/login/", "accounts/github/login/callback/"),
    *("accounts/logout/", "accounts/password/reset/", "accounts/password/reset/done/"),
    *("accounts/password/reset/key/done/", "accounts/confirm-email/", "accounts/2fa/authenticate/"),
    "accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
    "accounts/login/code/confirm/",
    *("robots.txt", "sitemap.xml", "reference/try/"),
    *("security/", "status/", "status.json", "status.atom"),
    *("domains/", "domains/<str:domain>", "domains/<str:domain>.json"),
    *("reference/opt-out/", "reference/opt-out/<str:token>/"),
}
STATIC = ROOT / "static"
PAGES = [page for page in all_pages().values() if not page.is_api]


@pytest.fixture
def _in_production(settings: Settings) -> None:
    for name, value in read_page_settings().items():
        setattr(settings, name, value)


@pytest.fixture
def superuser(owner: User) -> User:
    """An owner who is also a superuser and can view every page."""
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    return User.objects.get(pk=owner.pk)


@pytest.mark.anywhere
@pytest.mark.parametrize("is_admin", [False, pytest.param(True, marks=pytest.mark.proof)])
def test_every_unsafe_method_needs_a_csrf_token(
    superuser: User, account: Account, is_admin: bool
) -> None:
    values = populate_account(superuser, account)
    browser = browser_for(superuser, enforce_csrf_checks=True)
    for page in PAGES:
        if page.is_admin is not is_admin or page.route in SIGNED:
            continue
        path = page.path(values)
        # A view is exempt from the check for all methods or none.
        response = browser.post(path, {"email": "new@shop.example"})
        assert response.status_code == 403, path
        assert b"This form has expired" in response.content, path
        assert b"copy what you entered" in response.content, path
    for method in ("PUT", "PATCH", "DELETE"):
        assert browser.generic(method, "/accounts/profile/").status_code == 403


@pytest.mark.anywhere
@pytest.mark.usefixtures("_in_production")
def test_every_private_page_redirects_visitors_to_sign_in(owner: User, account: Account) -> None:
    values = populate_account(owner, account)
    for page in PAGES:
        path = page.path(values)
        is_open = page.route in OPEN or page.route.startswith("docs/")
        for method in ("GET", "POST"):
            response = Client(**PROXY).generic(method, path)
            check_headers(response, f"{method} {path}")
            is_redirected = response.headers.get("Location", "").startswith(
                ("/accounts/login/?next=", "/admin/login/?next=")
            )
            assert is_redirected is not is_open, f"{method} {path}: {response.status_code}"


@pytest.mark.anywhere
def test_no_staff_page_opens_for_a_customer(superuser: User, account: Account) -> None:
    values = populate_account(superuser, account)
    User.objects.update(is_staff=False, is_superuser=False)
    customer = browser_for(User.objects.get(pk=superuser.pk))
    for page in PAGES:
        if page.is_admin:
            for method in ("GET", "POST"):
                response = customer.generic(method, page.path(values))
                location = response.headers.get("Location", "")
                assert response.status_code == 403 or location.startswith(
                    ("/admin/", "/accounts/logout/", "/accounts/password/change/")
                ), f"{method} {page.route}: {response.status_code} {location}"


def test_every_text_column_is_classified() -> None:
    classified = {
        label: {*USER_TEXT.get(label, ()), *SYSTEM_TEXT.get(label, ())}
        for label in {*USER_TEXT, *SYSTEM_TEXT}
    }
    assert classified == find_text_columns()


@pytest.mark.anywhere
@pytest.mark.django_db
def test_every_static_file_declares_its_content_type_and_charset(settings: Settings) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    files = [path.relative_to(STATIC) for path in STATIC.rglob("*.[cjs]*")]
    assert len(files) > 10
    for file in files:
        # The file stays open until the response is closed.
        with closing(Client().get(f"/static/{file}")) as response:
            assert response.status_code == 200
            assert_content_type(response, str(file))


def assert_content_type(response: Any, label: str) -> None:
    media_type, _, charset = response.headers["Content-Type"].partition(";")
    if media_type.startswith("text/") or media_type.endswith(("+xml", "/xml")):
        assert charset.replace('"', "").strip() == "charset=utf-8", label
    else:
        known = {"application/json", "application/pdf", "application/vnd.oai.openapi+json"}
        assert media_type in known, label


NOT_SERVED = """
/.git/HEAD /.git/config /.env /manage.py /config/settings/__init__.py /var/ /db.sqlite3 /static/
/static/../manage.py /static/%2e%2e/manage.py /static/..%2fmanage.py /static//etc/passwd /static/%00
/media/ /__debug__/ /pyproject.toml /requirements.lock /static/css/ /.well-known/ /server-status
"""


@pytest.mark.anywhere
@pytest.mark.django_db
def test_source_files_are_not_served(settings: Settings) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    served = [path for path in NOT_SERVED.split() if Client().get(path).status_code != 404]
    assert served == []


@pytest.fixture
def _fresh_docs_index() -> Iterator[None]:
    """Rebuild the index of the docs afterwards: it contains the names of plans."""
    yield
    views._build_index.cache_clear()


@pytest.mark.usefixtures("_fresh_docs_index", "_in_production")
def test_every_page_opens_with_safe_headers_and_escapes_stored_text(
    superuser: User, account: Account
) -> None:
    """On both databases: most tests of single pages run on SQLite only."""
    values = populate_account(superuser, account)
    browser = browser_for(superuser, **PROXY)
    fill_with_hostile_text(account)
    opened = escaped = 0
    for page in PAGES:
        path = page.path(values)
        assert resolves_to(page, path), f"{page.route} is not at {path}"
        # The test client raises what a view raises.
        response = browser.get(path)
        check_headers(response, path)
        opened += response.status_code == 200
        if "list" in page.name:
            assert browser.get(path, {"q": "shop"}).status_code < 500, path
        # A page that first asks for reauthentication would not be checked.
        assert "reauthenticate/?next=" not in response.headers.get("Location", ""), page.route
        if response.streaming or response.content:
            assert_content_type(response, page.route)
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            continue
        text = response.content.decode()
        assert "<script>alert" not in text, path
        assert "49" not in text.partition("alert(1)")[2][:30], path
        assert not set(INVISIBLE) & set(_without_values(text)), path
        escaped += "[U+202E]" in text
    assert (opened > 100, escaped > 40) == (True, True)


def _without_values(html: str) -> str:
    """Return a page without tags and the values of text areas, which stay as entered."""
    pieces = [piece for piece in html.split("<") if not piece.startswith("textarea")]
    return "".join(piece.partition(">")[2] for piece in pieces)
