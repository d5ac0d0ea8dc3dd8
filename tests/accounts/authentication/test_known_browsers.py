"""A browser in which a user has signed in before has its own attempts: no stranger uses them up."""

import re
from datetime import timedelta
from urllib.parse import quote

import pytest
import time_machine
from django.conf import settings
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from accounts.authentication.known_browsers import MOST_USERS, browser_id
from accounts.models import User
from runtime.models import Mail
from tests.conftest import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db

LOGIN = "/accounts/login/"
RESET = "/accounts/password/reset/"
COOKIE = settings.KNOWN_BROWSER_COOKIE_NAME


def wrong_sign_in(client: Client, email: str, network: str = "127.0.0.1") -> str:
    answer = client.post(LOGIN, {"login": email, "password": "wrong"}, REMOTE_ADDR=network)
    return answer.content.decode()


def can_sign_in(client: Client, user: User) -> bool:
    answer = client.post(LOGIN, {"login": user.email, "password": PASSWORD})
    return answer.status_code == 302


def known_browser(user: User) -> Client:
    browser = signed_in(user)
    browser.post("/accounts/logout/")
    return browser


def lock_out_strangers(user: User) -> None:
    for number in range(5):
        wrong_sign_in(Client(), user.email, f"203.0.113.{number}")
    assert "Too many" in wrong_sign_in(Client(), user.email, "203.0.113.99")


def test_strangers_do_not_keep_the_owner_out_of_their_own_browser(owner: User) -> None:
    browser = known_browser(owner)
    lock_out_strangers(owner)
    assert can_sign_in(browser, owner)


def test_a_new_browser_is_refused_while_strangers_try_passwords(owner: User) -> None:
    lock_out_strangers(owner)
    assert not can_sign_in(Client(), owner)


def test_a_known_browser_has_five_attempts_of_its_own(owner: User) -> None:
    browser = known_browser(owner)
    for _ in range(5):
        wrong_sign_in(browser, owner.email)
    assert "Too many" in wrong_sign_in(browser, owner.email)
    assert can_sign_in(Client(), owner)


def test_a_known_browser_is_unknown_to_other_users(owner: User, stranger: User) -> None:
    browser = known_browser(stranger)
    lock_out_strangers(owner)
    assert not can_sign_in(browser, owner)


def test_the_cookie_is_replaced_at_each_sign_in(owner: User) -> None:
    browser = known_browser(owner)
    first = browser.cookies[COOKIE].value
    assert can_sign_in(browser, owner)
    assert browser.cookies[COOKIE].value != first


def test_the_cookie_is_for_the_server_alone_and_names_no_address(owner: User) -> None:
    cookie = signed_in(owner).cookies[COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] == settings.KNOWN_BROWSER_COOKIE_AGE
    assert owner.email not in cookie.value
    assert quote(owner.email) not in cookie.value


@pytest.mark.parametrize("change", [lambda value: value[:-1] + "A", lambda value: "x", str.lower])
def test_a_cookie_that_we_did_not_sign_is_ignored(owner: User, change: object) -> None:
    browser = known_browser(owner)
    assert callable(change)
    browser.cookies[COOKIE] = change(browser.cookies[COOKIE].value)
    lock_out_strangers(owner)
    assert not can_sign_in(browser, owner)


def test_a_browser_is_forgotten_after_half_a_year(owner: User) -> None:
    browser = known_browser(owner)
    with time_machine.travel(timezone.now() + timedelta(days=181)):
        lock_out_strangers(owner)
        assert not can_sign_in(browser, owner)


def test_a_browser_knows_the_users_who_signed_in_last(db: None) -> None:
    users = [make_user(f"user-{number}@shop.example") for number in range(MOST_USERS + 1)]
    browser = Client()
    for user in users:
        assert can_sign_in(browser, user)
        browser.post("/accounts/logout/")
    request = HttpRequest()
    request.COOKIES = {COOKIE: browser.cookies[COOKIE].value}
    known = [user for user in users if browser_id(request, user.email)]
    assert known == users[1:]


def test_a_wrong_password_makes_no_browser_known(owner: User) -> None:
    browser = Client()
    wrong_sign_in(browser, owner.email)
    assert COOKIE not in browser.cookies


def test_who_is_signed_in_can_confirm_their_password_while_strangers_try_others(
    owner: User,
) -> None:
    browser = signed_in(owner)
    del browser.cookies[COOKIE]
    lock_out_strangers(owner)
    answer = browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert answer.status_code == 302


def test_a_password_reset_lets_its_browser_in_while_strangers_try_passwords(owner: User) -> None:
    browser, new = Client(), "a new long password"
    browser.post(RESET, {"email": owner.email})
    link = re.search(r"^http\S+(/accounts/password/reset/key/\S+)$", Mail.objects.get().text, re.M)
    assert link
    form = browser.get(link[1]).headers["Location"]
    browser.post(form, {"password1": new, "password2": new})
    lock_out_strangers(owner)
    answer = browser.post(LOGIN, {"login": owner.email, "password": new})
    assert answer.status_code == 302


def test_an_office_behind_one_address_signs_in(db: None) -> None:
    users = [make_user(f"colleague-{number}@office.example") for number in range(40)]
    assert all(can_sign_in(Client(), user) for user in users)


def test_wrong_passwords_do_not_shut_out_a_neighbor_behind_the_same_address(owner: User) -> None:
    for number in range(60):
        wrong_sign_in(Client(), f"jane.{number}@office.example")
    assert can_sign_in(Client(), owner)


def test_one_address_tries_a_hundred_wrong_passwords_per_minute(owner: User) -> None:
    for number in range(100):
        wrong_sign_in(Client(), f"jane.{number}@office.example")
    assert "Too many" in wrong_sign_in(Client(), "jane@office.example")
    assert not can_sign_in(Client(), owner)


@pytest.mark.parametrize("email", ["owner@shop.example", "unknown@shop.example"])
def test_further_resets_show_the_usual_page_and_send_no_email(owner: User, email: str) -> None:
    pages = [Client().post(RESET, {"email": email}) for _ in range(25)]
    assert {(page.status_code, page.headers["Location"]) for page in pages} == {
        (302, "/accounts/password/reset/done/")
    }
    assert Mail.objects.filter(to=email).count() <= 5


def test_a_stranger_does_not_use_up_the_resets_of_a_known_browser(owner: User) -> None:
    browser = known_browser(owner)
    for number in range(25):
        Client().post(RESET, {"email": owner.email}, REMOTE_ADDR=f"203.0.113.{number}")
    Mail.objects.all().delete()
    browser.post(RESET, {"email": owner.email})
    assert Mail.objects.get().to == owner.email


def test_a_known_browser_signs_in_twenty_times_per_minute(owner: User) -> None:
    browser = known_browser(owner)
    for _ in range(20):
        assert can_sign_in(browser, owner)
        browser.post("/accounts/logout/")
    assert not can_sign_in(browser, owner)
    assert can_sign_in(Client(), owner)
