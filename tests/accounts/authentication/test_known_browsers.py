"""Browsers that have signed in before have their own limits, which strangers cannot exhaust."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
import time_machine
from django.conf import settings
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts.authentication.known_browsers import MAX_USERS, browser_id
from accounts.authentication.rate_limits import count_sign_in
from accounts.models import User
from runtime.models import Mail
from tests.conftest import PASSWORD, make_user, signed_in_by_form
from tests.support.received_email import path_in_email

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

LOGIN = "/accounts/login/"
RESET = "/accounts/password/reset/"
COOKIE = settings.KNOWN_BROWSER_COOKIE_NAME


def wrong_sign_in(client: Client, email: str, ip: str = "127.0.0.1") -> str:
    response = client.post(LOGIN, {"login": email, "password": "wrong"}, REMOTE_ADDR=ip)
    return response.content.decode()


def can_sign_in(client: Client, user: User) -> bool:
    response = client.post(LOGIN, {"login": user.email, "password": PASSWORD})
    return response.status_code == 302


def known_browser(user: User) -> Client:
    browser = signed_in_by_form(user)
    browser.post("/accounts/logout/")
    return browser


def lock_out_strangers(user: User) -> None:
    for number in range(5):
        wrong_sign_in(Client(), user.email, f"203.0.113.{number}")
    assert "Too many" in wrong_sign_in(Client(), user.email, "203.0.113.99")


@pytest.mark.parametrize(("days", "is_known"), [(0, True), (181, False)])
def test_strangers_cannot_lock_the_owner_out_of_a_browser_with_a_valid_cookie(
    owner: User, days: int, is_known: bool
) -> None:
    browser = known_browser(owner)
    cookie = browser.cookies[COOKIE].value
    with time_machine.travel(timezone.now() + timedelta(days=days)):
        lock_out_strangers(owner)
        for invalid in (cookie[:-1], "x", cookie.lower()):
            browser.cookies[COOKIE] = invalid
            assert not can_sign_in(browser, owner)
        browser.cookies[COOKIE] = cookie
        assert can_sign_in(browser, owner) is is_known


def test_known_browser_has_its_own_limit_of_five_attempts(owner: User) -> None:
    browser = known_browser(owner)
    for _ in range(5):
        wrong_sign_in(browser, owner.email)
    assert "Too many" in wrong_sign_in(browser, owner.email)
    assert can_sign_in(Client(), owner)


def test_known_browser_is_bound_to_its_user(owner: User, stranger: User) -> None:
    browser = known_browser(stranger)
    lock_out_strangers(owner)
    assert not can_sign_in(browser, owner)


def test_cookie_is_replaced_at_each_sign_in_and_does_not_reveal_the_address(owner: User) -> None:
    browser = known_browser(owner)
    first = browser.cookies[COOKIE].value
    assert can_sign_in(browser, owner)
    cookie = browser.cookies[COOKIE]
    assert cookie.value != first
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] == settings.KNOWN_BROWSER_COOKIE_AGE
    assert owner.email not in cookie.value
    assert quote(owner.email) not in cookie.value


def test_cookie_remembers_the_latest_users(db: None) -> None:
    users = [make_user(f"user-{number}@shop.example") for number in range(MAX_USERS + 1)]
    browser = Client()
    for user in users:
        assert can_sign_in(browser, user)
        browser.post("/accounts/logout/")
    request = HttpRequest()
    request.COOKIES = {COOKIE: browser.cookies[COOKIE].value}
    remembered = [user for user in users if browser_id(request, user.email)]
    assert remembered == users[1:]


def test_wrong_password_does_not_make_a_browser_known(owner: User) -> None:
    browser = Client()
    wrong_sign_in(browser, owner.email)
    assert COOKIE not in browser.cookies


def test_signed_in_user_can_reauthenticate_while_strangers_try_passwords(owner: User) -> None:
    browser = signed_in_by_form(owner)
    del browser.cookies[COOKIE]
    lock_out_strangers(owner)
    response = browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert response.status_code == 302


def test_password_reset_makes_the_browser_known(owner: User) -> None:
    browser, new_password = Client(), "a new long password"
    browser.post(RESET, {"email": owner.email})
    form = browser.get(path_in_email("/accounts/password/reset/key/")).headers["Location"]
    browser.post(form, {"password1": new_password, "password2": new_password})
    lock_out_strangers(owner)
    response = browser.post(LOGIN, {"login": owner.email, "password": new_password})
    assert response.status_code == 302


def test_ip_address_is_limited_to_a_hundred_wrong_passwords_per_minute(owner: User) -> None:
    attempt: Any = RequestFactory().post(LOGIN)
    attempt.ip = "127.0.0.1"
    for number in range(98):
        count_sign_in(attempt, f"jane.{number}@office.example")
    wrong_sign_in(Client(), "jane.99@office.example")
    # They don't lock out others at the same address.
    assert can_sign_in(Client(), owner)
    wrong_sign_in(Client(), "jane.100@office.example")
    assert "Too many" in wrong_sign_in(Client(), "jane@office.example")
    assert not can_sign_in(Client(), owner)


@pytest.mark.parametrize("email", ["owner@shop.example", "unknown@shop.example"])
def test_resets_beyond_the_limit_show_the_usual_page_and_send_no_email(
    owner: User, email: str
) -> None:
    pages = [Client().post(RESET, {"email": email}) for _ in range(25)]
    assert {(page.status_code, page.headers["Location"]) for page in pages} == {
        (302, "/accounts/password/reset/done/")
    }
    assert Mail.objects.filter(to=email).count() <= 5


def test_strangers_cannot_exhaust_the_resets_of_a_known_browser(owner: User) -> None:
    browser = known_browser(owner)
    for number in range(25):
        Client().post(RESET, {"email": owner.email}, REMOTE_ADDR=f"203.0.113.{number}")
    Mail.objects.all().delete()
    browser.post(RESET, {"email": owner.email})
    assert Mail.objects.get().to == owner.email


def test_known_browser_is_limited_to_twenty_sign_ins_per_minute(owner: User) -> None:
    browser = known_browser(owner)
    for _ in range(20):
        assert can_sign_in(browser, owner)
        browser.post("/accounts/logout/")
    assert not can_sign_in(browser, owner)
    assert can_sign_in(Client(), owner)
