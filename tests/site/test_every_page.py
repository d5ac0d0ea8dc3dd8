"""What holds for every page. The pages are read from the URL table: a new one is walked as well."""

from contextlib import closing
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, User
from tests.servers.product import ROOT
from tests.support.hostile_text import TYPED, UNSEEN, WRITTEN, poison, text_columns
from tests.support.pages import all_pages, browser_of, settle

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# A signature stands for the form's token: tests/credits/payments/test_stripe.py.
SIGNED = {"credits/stripe/"}
# Open to everybody.
OPEN = {
    *("", "credits/stripe/", "favicon.ico", ".well-known/security.txt"),
    *("accounts/terms/", "accounts/privacy/", "accounts/data-processing/"),
    *("accounts/account/closed/", "accounts/inactive/", "accounts/invitations/<token:token>/"),
    *("accounts/login/", "accounts/signup/", "accounts/2fa/webauthn/login/"),
    *("accounts/logout/", "accounts/password/reset/", "accounts/password/reset/done/"),
    *("accounts/password/reset/key/done/", "accounts/confirm-email/", "accounts/2fa/authenticate/"),
    "accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
    "accounts/login/code/confirm/",
}
STATIC = ROOT / "static"
PAGES = [page for page in all_pages().values() if not page.is_api]
# The staff's take longer than all others.
WHOSE = [
    pytest.param(False, id="customers"),
    pytest.param(True, id="staff", marks=pytest.mark.proof),
]


@pytest.fixture
def insider(owner: User) -> User:
    """Who may see everything: an owner who is staff."""
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    return User.objects.get(pk=owner.pk)


@pytest.mark.parametrize("of_staff", WHOSE)
def test_every_unsafe_method_of_every_page_needs_the_token_of_its_form(
    insider: User, account: Account, of_staff: bool
) -> None:
    places = settle(insider, account)
    browser = browser_of(insider, enforce_csrf_checks=True)
    for page in PAGES:
        if page.is_admin is not of_staff or page.route in SIGNED:
            continue
        address = page.address(places)
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = browser.generic(method, address, "email=new@shop.example")
            assert answer.status_code == 403, f"{method} {address}"
            assert b"This form has expired" in answer.content, f"{method} {address}"


def test_every_page_that_is_not_open_leads_who_is_not_signed_in_to_the_sign_in(
    owner: User, account: Account
) -> None:
    places = settle(owner, account)
    for page in PAGES:
        address = page.address(places)
        is_open = page.route in OPEN or page.route.startswith("docs/")
        for method in ("GET", "POST"):
            answer = Client().generic(method, address)
            led = answer.headers.get("Location", "").startswith(
                ("/accounts/login/?next=", "/admin/login/?next=")
            )
            assert led is not is_open, f"{method} {address}: {answer.status_code}"


def test_no_page_of_the_staff_opens_to_a_customer(insider: User, account: Account) -> None:
    places = settle(insider, account)
    User.objects.update(is_staff=False, is_superuser=False)
    customer = browser_of(User.objects.get(pk=insider.pk))
    for page in PAGES:
        if page.is_admin:
            for method in ("GET", "POST"):
                answer = customer.generic(method, page.address(places))
                where = answer.headers.get("Location", "")
                assert answer.status_code == 403 or where.startswith(
                    ("/admin/", "/accounts/logout/", "/accounts/password/change/")
                ), f"{method} {page.route}: {answer.status_code} {where}"


def test_every_column_of_text_is_known_to_be_typed_or_not() -> None:
    known = {
        label: {*TYPED.get(label, ()), *WRITTEN.get(label, ())} for label in {*TYPED, *WRITTEN}
    }
    assert known == text_columns()


def test_every_answer_says_what_it_is_and_in_which_letters(insider: User, account: Account) -> None:
    places = settle(insider, account)
    browser = browser_of(insider)
    for page in PAGES:
        if not page.is_admin:
            answer = browser.get(page.address(places))
            # A page that asks for a proof first would go unseen here.
            assert "reauthenticate/?next=" not in answer.headers.get("Location", ""), page.route
            if answer.streaming or answer.content:
                assert_named(answer, page.route)


def test_every_file_says_what_it_is_and_in_which_letters(settings: Settings) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    files = [path.relative_to(STATIC) for path in STATIC.rglob("*.[cjs]*")]
    assert len(files) > 10
    for file in files:
        # It is open until it is sent.
        with closing(Client().get(f"/static/{file}")) as answer:
            assert answer.status_code == 200
            assert_named(answer, str(file))


def assert_named(answer: Any, what: str) -> None:
    kind, _, parameter = answer.headers["Content-Type"].partition(";")
    if kind.startswith("text/") or kind.endswith(("+xml", "/xml")):
        assert parameter.replace('"', "").strip() == "charset=utf-8", what
    else:
        assert kind in {"application/json", "application/vnd.oai.openapi+json"}, what


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/.git/HEAD",
            "/.git/config",
            "/.env",
            "/manage.py",
            "/config/settings/__init__.py",
            "/var/",
        ),
        *("/db.sqlite3", "/static/", "/static/../manage.py", "/static/%2e%2e/manage.py"),
        *("/static/..%2fmanage.py", "/static//etc/passwd", "/static/%00", "/media/", "/__debug__/"),
        *(
            "/pyproject.toml",
            "/requirements.lock",
            "/static/css/",
            "/.well-known/",
            "/server-status",
        ),
    ],
)
def test_no_file_of_the_program_is_served(path: str, settings: Settings) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    assert Client().get(path).status_code == 404


@pytest.mark.parametrize("of_staff", WHOSE)
def test_nothing_that_is_stored_becomes_markup_or_hides_on_any_page(
    insider: User, account: Account, of_staff: bool
) -> None:
    places = settle(insider, account)
    browser = browser_of(insider)
    poison(account)
    hidden = 0
    for page in PAGES:
        address = page.address(places)
        if page.is_admin is not of_staff:
            continue
        answer = browser.get(address)
        if not answer.headers.get("Content-Type", "").startswith("text/html"):
            continue
        text = answer.content.decode()
        assert "<script>alert" not in text, address
        assert "49" not in text.partition("alert(1)")[2][:30], address
        assert not set(UNSEEN) & set(_without_tags(text)), address
        hidden += "[U+202E]" in text
    assert hidden > 20


def _without_tags(html: str) -> str:
    return "".join(piece.partition(">")[2] for piece in html.split("<"))
