"""What stands between a password and an account: each code once, and no secret to be read."""

import json
import re
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

from accounts.authentication.second_factor.factors import reencrypt_secrets
from accounts.models import AuditEntry, User
from runtime.encryption import DecryptionFailed, decrypt, encrypt
from tests.conftest import PASSWORD, signed_in
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import add_passkey, sign_in_by_passkey

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
WARNING = "You'll be signed out everywhere else."
LOGIN = {"login": "owner@shop.example", "password": PASSWORD}


@pytest.fixture
def factor(owner: User) -> Authenticator:
    return TOTP.activate(owner, SECRET).instance


def code() -> str:
    return str(format_hotp_value(hotp_value(SECRET, next(iter(counters())))))


def prove(given: str) -> Client:
    browser = Client()
    browser.post("/accounts/login/", LOGIN)
    browser.post("/accounts/2fa/authenticate/", {"code": given})
    return browser


def is_in(browser: Client) -> bool:
    return browser.get("/validation/").status_code == 200


def test_a_code_opens_the_account_once(factor: Authenticator) -> None:
    given = code()
    assert is_in(prove(given))
    assert not is_in(prove(given))
    assert not is_in(prove(f" {given} "))


def test_a_recovery_code_opens_the_account_once(owner: User, factor: Authenticator) -> None:
    browser = prove(code())
    page = browser.post("/accounts/2fa/recovery-codes/generate/", follow=True)
    given = re.findall(r"\b\d{8}\b", page.content.decode())
    assert len(given) >= 10
    assert is_in(prove(given[0]))
    assert not is_in(prove(given[0]))
    assert is_in(prove(given[1]))


@pytest.mark.parametrize("page", ["webauthn/add", "recovery-codes/generate"])
def test_viewing_recovery_codes_never_writes_over_a_used_one(
    page: str, owner: User, django_capture_on_commit_callbacks: Any
) -> None:
    browser = signed_in(owner)
    with django_capture_on_commit_callbacks(execute=True):
        add_passkey(browser, PasskeyDevice())
    if page == "recovery-codes/generate":
        with django_capture_on_commit_callbacks(execute=True):
            browser.post(f"/accounts/2fa/{page}/")
    codes = Authenticator.objects.filter(type=Authenticator.Type.RECOVERY_CODES)
    before = codes.get().data
    assert browser.get("/accounts/2fa/recovery-codes/").status_code == 200
    assert codes.get().data == before


def test_wrong_codes_are_counted(factor: Authenticator) -> None:
    browser = Client()
    browser.post("/accounts/login/", LOGIN)
    for _ in range(5):
        browser.post("/accounts/2fa/authenticate/", {"code": "000000"})
    browser.post("/accounts/2fa/authenticate/", {"code": code()})
    assert not is_in(browser)


def test_no_secret_of_a_second_factor_can_be_read_in_the_database(
    owner: User, factor: Authenticator
) -> None:
    prove(code()).post("/accounts/2fa/recovery-codes/generate/")
    stored = [json.dumps(one.data) for one in Authenticator.objects.all()]
    assert len(stored) == 2
    assert SECRET not in "".join(stored)
    assert all("sealed:" in one for one in stored)


def test_another_secret_key_opens_nothing(factor: Authenticator, settings: Settings) -> None:
    settings.SECRET_KEY = "another" * 10
    assert not is_in(prove(code()))
    # What an empty secret would give.
    assert not is_in(prove(format_hotp_value(hotp_value("", next(iter(counters()))))))
    with pytest.raises(DecryptionFailed):
        decrypt(factor.data["secret"])


def test_a_secret_key_is_replaced_without_anybody_losing_their_app(
    factor: Authenticator, settings: Settings
) -> None:
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 10
    assert is_in(prove(code()))
    reencrypt_secrets()
    settings.SECRET_KEY_FALLBACKS = []
    factor.refresh_from_db()
    assert decrypt(factor.data["secret"]) == SECRET


def test_what_was_stored_open_is_sealed_by_the_days_work(owner: User) -> None:
    kind = Authenticator.Type.TOTP
    factor = Authenticator.objects.create(user=owner, type=kind, data={"secret": SECRET})
    assert is_in(prove(code()))
    reencrypt_secrets()
    factor.refresh_from_db()
    assert factor.data["secret"].startswith("sealed:")
    assert decrypt(factor.data["secret"]) == SECRET


def test_two_seals_of_one_secret_differ() -> None:
    assert encrypt(SECRET) != encrypt(SECRET)


def test_first_factor_ends_every_other_session(owner: User) -> None:
    here, elsewhere = signed_in(owner), signed_in(owner)
    answer = add_passkey(here, PasskeyDevice())
    page = here.get(answer.headers["Location"])
    assert b"You were signed out everywhere else." in page.content
    assert not is_in(elsewhere)
    entry = AuditEntry.objects.get(action="user.sessions_ended")
    assert (entry.actor, entry.target, entry.ip) == (owner, "1 browser", "127.0.0.1")


def test_page_of_the_first_factor_announces_that_other_sessions_end(owner: User) -> None:
    browser = signed_in(owner)
    for page in ("/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/add/"):
        assert WARNING in browser.get(page).content.decode()
    add_passkey(browser, PasskeyDevice())
    assert WARNING not in browser.get("/accounts/2fa/totp/activate/").content.decode()


def test_second_factor_beyond_the_first_ends_no_session(owner: User) -> None:
    first, elsewhere = PasskeyDevice(), Client()
    here = signed_in(owner)
    add_passkey(here, first)
    sign_in_by_passkey(elsewhere, first)
    add_passkey(here, PasskeyDevice())
    assert Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).count() == 2
    assert is_in(elsewhere)


def test_clock_that_was_set_back_does_not_lock_the_app_out(factor: Authenticator) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=30), tick=False):
        assert is_in(prove(code()))
    assert is_in(prove(code()))


def test_code_is_refused_after_a_later_one_was_accepted(factor: Authenticator) -> None:
    now = timezone.now()
    with time_machine.travel(now + timedelta(seconds=30), tick=False):
        assert is_in(prove(code()))
    with time_machine.travel(now, tick=False):
        assert not is_in(prove(code()))
