"""The user, password or account may change between the password and the second step."""

from collections.abc import Callable

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client

from accounts import services
from accounts.models import User
from tests.accounts.authentication.test_second_factor import LOGIN
from tests.conftest import PASSWORD
from tests.support.frozen_minute import freeze_time_but_not_processes
from tests.support.second_factors import SECRET, current_code, is_signed_in

# A code is valid for 30 seconds, in which a busy machine may not send it.
__all__ = ["freeze_time_but_not_processes"]

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

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
def test_correct_code_is_refused_after_the_user_changed(
    owner: User, change: Callable[[User], None]
) -> None:
    TOTP.activate(owner, SECRET)
    browser = Client()
    browser.post("/accounts/login/", LOGIN)
    change(owner)
    response = browser.post(AUTHENTICATE, {"code": current_code()})
    assert response.status_code == 302
    assert not is_signed_in(browser)
    # The sign-in starts again with the password.
    assert browser.get(AUTHENTICATE).headers["Location"].startswith("/accounts/login/")
