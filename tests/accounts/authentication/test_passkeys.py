"""A passkey works only on this site, once per challenge, and not from a copy of the passkey."""

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEntry, User
from config.settings.environment import get_origin
from tests.conftest import PASSWORD, signed_in_by_form
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import (
    SIGN_IN,
    add_passkey,
    begin_passkey_sign_in,
    is_signed_in,
    sign_in_by_passkey,
)

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SUBDOMAIN = "http://shop.testserver"


@pytest.fixture
def device(owner: User) -> PasskeyDevice:
    device = PasskeyDevice(counter=1)
    add_passkey(signed_in_by_form(owner), device)
    return device


def stored_counter(user: User) -> int:
    passkey = Authenticator.objects.get(user=user, type=Authenticator.Type.WEBAUTHN)
    return int(passkey.data["sign_count"])


def test_passkey_used_on_another_origin_is_refused_and_ends_its_challenge(
    device: PasskeyDevice,
) -> None:
    browser = Client()
    device.counter = 2
    for origin in (SUBDOMAIN, "https://testserver", "http://testserver:81"):
        options = begin_passkey_sign_in(browser)
        for used in (origin, "http://testserver"):
            device.origin = used
            browser.post(SIGN_IN, {"credential": device.sign_in(options)})
            assert not is_signed_in(browser), origin


def test_passkey_made_on_another_origin_is_refused(owner: User) -> None:
    page = add_passkey(signed_in_by_form(owner), PasskeyDevice(origin=SUBDOMAIN))
    assert b"Passkeys only work on http://testserver." in page.content
    assert not Authenticator.objects.exists()


def test_production_accepts_only_the_origin_of_base_url(
    device: PasskeyDevice, settings: Settings
) -> None:
    settings.PASSKEY_ORIGINS = [get_origin("https://TestServer:443")]
    settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = False
    for origin, is_accepted in ((SUBDOMAIN, False), ("https://testserver", True)):
        device.origin, device.counter = origin, device.counter + 1
        browser = Client()
        sign_in_by_passkey(browser, device)
        assert is_signed_in(browser) is is_accepted


@pytest.mark.parametrize("counters", [(1, 2, 3, 7), (0, 0, 0, 0)])
def test_passkey_signs_in_while_its_counter_increases_or_if_it_has_none(
    owner: User, counters: tuple[int, ...]
) -> None:
    device = PasskeyDevice(counter=counters[0])
    add_passkey(signed_in_by_form(owner), device)
    for counter in counters[1:]:
        device.counter = counter
        browser = Client()
        sign_in_by_passkey(browser, device)
        assert is_signed_in(browser)
        assert stored_counter(owner) == counter


def test_copied_passkey_is_refused_and_reported(owner: User, device: PasskeyDevice) -> None:
    """The copy's counter is not greater than the one that the original has reached."""
    device.counter = 5
    sign_in_by_passkey(Client(), device)
    for counter in (0, 1, 5):
        device.counter = counter
        copy = Client()
        sign_in_by_passkey(copy, device)
        assert not is_signed_in(copy)
        assert b"may have been copied" in copy.get("/accounts/login/").content
        assert stored_counter(owner) == 5
    entries = AuditEntry.objects.filter(action="user.second_factor_failed")
    reported = f"{owner.email}: Passkey “Laptop”, which may have been copied"
    assert [entry.target for entry in entries] == [reported] * 3


def test_copied_passkey_does_not_pass_the_second_step(owner: User, device: PasskeyDevice) -> None:
    browser = Client()
    browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    options = browser.get("/accounts/2fa/authenticate/").context["js_data"]["request_options"]
    page = browser.post("/accounts/2fa/authenticate/", {"credential": device.sign_in(options)})
    assert b"may have been copied" in page.content
    assert not is_signed_in(browser)


def test_renamed_passkey_keeps_its_counter(owner: User, device: PasskeyDevice) -> None:
    browser = Client()
    device.counter = 2
    sign_in_by_passkey(browser, device)
    pk = Authenticator.objects.get(type=Authenticator.Type.WEBAUTHN).pk
    browser.post(f"/accounts/2fa/webauthn/keys/{pk}/edit/", {"name": "Phone"})
    assert Authenticator.objects.get(pk=pk).data["name"] == "Phone"
    assert stored_counter(owner) == 2
