"""What stands between a password and an account: each code once, and no secret to be read."""

import json
import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from allauth.mfa.totp.internal.auth import yield_hotp_counters_from_time as counters
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.sealing import SealBroken, seal, unseal
from accounts.second_factor import seal_again
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
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
    with pytest.raises(SealBroken):
        unseal(factor.data["secret"])


def test_a_secret_key_is_replaced_without_anybody_losing_their_app(
    factor: Authenticator, settings: Settings
) -> None:
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another" * 10
    assert is_in(prove(code()))
    seal_again()
    settings.SECRET_KEY_FALLBACKS = []
    factor.refresh_from_db()
    assert unseal(factor.data["secret"]) == SECRET


def test_what_was_stored_open_is_sealed_by_the_days_work(owner: User) -> None:
    kind = Authenticator.Type.TOTP
    factor = Authenticator.objects.create(user=owner, type=kind, data={"secret": SECRET})
    assert is_in(prove(code()))
    seal_again()
    factor.refresh_from_db()
    assert factor.data["secret"].startswith("sealed:")
    assert unseal(factor.data["secret"]) == SECRET


def test_two_seals_of_one_secret_differ() -> None:
    assert seal(SECRET) != seal(SECRET)
