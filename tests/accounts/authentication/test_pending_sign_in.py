"""Between the password and the second step, what the password opened may change."""

from collections.abc import Callable

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client

from accounts import services
from accounts.models import User
from tests.accounts.authentication.test_second_factor import LOGIN, SECRET, code, is_in
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

AUTHENTICATE = "/accounts/2fa/authenticate/"


def change_password(user: User) -> None:
    user.set_password("a new long password")
    user.save()


def set_the_same_password_again(user: User) -> None:
    user.set_password(PASSWORD)
    user.save()


def deactivate(user: User) -> None:
    User.objects.update(is_active=False)


def close_account(user: User) -> None:
    services.close_account(account=user.memberships.get().account, actor=user)


CHANGES = [change_password, set_the_same_password_again, deactivate, close_account]


@pytest.mark.parametrize("change", CHANGES)
def test_a_right_code_opens_nothing_after_a_change(
    owner: User, change: Callable[[User], None]
) -> None:
    TOTP.activate(owner, SECRET)
    browser = Client()
    browser.post("/accounts/login/", LOGIN)
    change(owner)
    answer = browser.post(AUTHENTICATE, {"code": code()})
    assert answer.status_code == 302
    assert not is_in(browser)
    # The password step has to be repeated.
    assert browser.get(AUTHENTICATE).headers["Location"].startswith("/accounts/login/")


def test_the_page_says_why_the_sign_in_starts_again(owner: User) -> None:
    TOTP.activate(owner, SECRET)
    browser = Client()
    browser.post("/accounts/login/", LOGIN)
    change_password(owner)
    page = browser.post(AUTHENTICATE, {"code": code()}, follow=True).content.decode()
    assert "Your password was changed. Sign in again." in page


def test_a_second_step_without_a_change_opens_the_account(owner: User) -> None:
    TOTP.activate(owner, SECRET)
    browser = Client()
    browser.post("/accounts/login/", LOGIN)
    assert not is_in(browser)
    browser.post(AUTHENTICATE, {"code": code()})
    assert is_in(browser)
