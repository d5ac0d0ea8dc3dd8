"""Second factors: each code works once, and their secrets are encrypted in the database."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from allauth.mfa.totp.internal.auth import yield_hotp_counters_from_time as counters
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts import services
from accounts.authentication.second_factor.factors import reencrypt_secrets
from accounts.models import AuditEntry, User
from runtime.encryption import DecryptionFailed, decrypt, encrypt
from tests.conftest import PASSWORD, signed_in_by_form
from tests.support.frozen_minute import freeze_time_but_not_processes
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import (
    SECRET,
    add_passkey,
    current_code,
    is_signed_in,
    sign_in_by_passkey,
)

# A code is valid for 30 seconds, in which a busy machine may not send it.
__all__ = ["freeze_time_but_not_processes"]

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

LOGIN = {"login": "owner@shop.example", "password": PASSWORD}


@pytest.fixture
def factor(owner: User) -> Authenticator:
    return TOTP.activate(owner, SECRET).instance


def sign_in_with(code: str) -> Client:
    browser = Client()
    browser.post("/accounts/login/", LOGIN)
    browser.post("/accounts/2fa/authenticate/", {"code": code})
    return browser


def test_code_signs_in_once_and_not_after_a_later_one(factor: Authenticator) -> None:
    code, now = current_code(), timezone.now()
    assert is_signed_in(sign_in_with(code))
    assert not is_signed_in(sign_in_with(code))
    assert not is_signed_in(sign_in_with(f" {code} "))
    with time_machine.travel(now + timedelta(seconds=60), tick=False):
        assert is_signed_in(sign_in_with(current_code()))
    with time_machine.travel(now + timedelta(seconds=30), tick=False):
        assert not is_signed_in(sign_in_with(current_code()))


def test_a_recovery_code_opens_the_account_once(factor: Authenticator) -> None:
    browser = sign_in_with(current_code())
    page = browser.post("/accounts/2fa/recovery-codes/generate/", follow=True)
    codes = re.findall(r"\b\d{8}\b", page.content.decode())
    assert len(codes) >= 10
    assert is_signed_in(sign_in_with(codes[0]))
    assert not is_signed_in(sign_in_with(codes[0]))
    assert is_signed_in(sign_in_with(codes[1]))


def test_viewing_recovery_codes_does_not_overwrite_a_used_one(
    owner: User, django_capture_on_commit_callbacks: Any
) -> None:
    browser, page = signed_in_by_form(owner), "/accounts/2fa/recovery-codes/"
    codes = Authenticator.objects.filter(type=Authenticator.Type.RECOVERY_CODES)
    for create_codes in (
        lambda: add_passkey(browser, PasskeyDevice()),
        lambda: browser.post(f"{page}generate/"),
    ):
        with django_capture_on_commit_callbacks(execute=True):
            create_codes()
        before = codes.get().data
        assert browser.get(page).status_code == 200
        assert codes.get().data == before


def test_wrong_codes_are_limited(factor: Authenticator) -> None:
    browser = Client()
    browser.post("/accounts/login/", LOGIN)
    for _ in range(5):
        browser.post("/accounts/2fa/authenticate/", {"code": "000000"})
    browser.post("/accounts/2fa/authenticate/", {"code": current_code()})
    assert not is_signed_in(browser)


def test_secrets_of_second_factors_are_encrypted_in_the_database(factor: Authenticator) -> None:
    sign_in_with(current_code()).post("/accounts/2fa/recovery-codes/generate/")
    stored = [json.dumps(authenticator.data) for authenticator in Authenticator.objects.all()]
    assert len(stored) == 2
    assert SECRET not in "".join(stored)
    assert all("sealed:" in data for data in stored)


def test_code_is_refused_under_another_secret_key(
    factor: Authenticator, settings: Settings
) -> None:
    settings.SECRET_KEY = "another" * 10
    assert not is_signed_in(sign_in_with(current_code()))
    # The code of an empty secret.
    assert not is_signed_in(sign_in_with(format_hotp_value(hotp_value("", next(iter(counters()))))))
    with pytest.raises(DecryptionFailed):
        decrypt(factor.data["secret"])


def test_authenticator_app_survives_a_rotation_of_the_secret_key(
    factor: Authenticator, settings: Settings
) -> None:
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 10
    assert is_signed_in(sign_in_with(current_code()))
    reencrypt_secrets()
    settings.SECRET_KEY_FALLBACKS = []
    factor.refresh_from_db()
    assert decrypt(factor.data["secret"]) == SECRET


def test_daily_job_encrypts_plaintext_secrets(owner: User) -> None:
    kind = Authenticator.Type.TOTP
    factor = Authenticator.objects.create(user=owner, type=kind, data={"secret": SECRET})
    assert is_signed_in(sign_in_with(current_code()))
    reencrypt_secrets()
    factor.refresh_from_db()
    assert factor.data["secret"].startswith("sealed:")
    assert decrypt(factor.data["secret"]) == SECRET


def test_encrypting_a_secret_twice_gives_different_results() -> None:
    assert encrypt(SECRET) != encrypt(SECRET)


def test_only_the_first_factor_ends_every_other_session(owner: User) -> None:
    first = PasskeyDevice()
    here, elsewhere = signed_in_by_form(owner), signed_in_by_form(owner)
    response = add_passkey(here, first)
    page = here.get(response.headers["Location"])
    assert b"You were signed out everywhere else." in page.content
    assert not is_signed_in(elsewhere)
    entry = AuditEntry.objects.get(action="user.sessions_ended")
    assert (entry.actor, entry.target, entry.ip) == (owner, "1 browser", "127.0.0.1")
    sign_in_by_passkey(elsewhere, first)
    add_passkey(here, PasskeyDevice())
    assert Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).count() == 2
    assert is_signed_in(elsewhere)


def test_clock_that_was_set_back_does_not_lock_the_app_out(factor: Authenticator) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=30), tick=False):
        assert is_signed_in(sign_in_with(current_code()))
    assert is_signed_in(sign_in_with(current_code()))


AUTHENTICATE = "/accounts/2fa/authenticate/"


def set_password(user: User, password: str) -> None:
    user.set_password(password)
    user.save()


CHANGES: dict[str, Callable[[User], object]] = {
    "password": lambda user: set_password(user, "a new long password"),
    "same password": lambda user: set_password(user, PASSWORD),
    "deactivated": lambda user: User.objects.update(is_active=False),
    "closed": lambda user: services.close_account(
        account=user.memberships.get().account, actor=user
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_correct_code_is_refused_after_the_user_changed(
    owner: User, change: Callable[[User], object]
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
