"""Second factors of users, and browsers that have or haven't used one."""

import time
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client

from accounts.models import User
from tests.journeys.authenticator_app import code_at
from tests.support.pages import passkey_registration
from tests.support.passkey_device import PasskeyDevice

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
REAUTHENTICATE = "/accounts/2fa/reauthenticate/"
SIGN_IN = "/accounts/2fa/webauthn/login/"
_FETCH_HEADERS = {"X-Requested-With": "XMLHttpRequest"}


def add_authenticator_app(user: User) -> Authenticator:
    """Add an authenticator app and recovery codes to the user, unused in any session."""
    RecoveryCodes.activate(user)
    return TOTP.activate(user, SECRET).instance


def give_passkey(user: User) -> Authenticator:
    """Add a passkey that no device has."""
    data = {"name": "Laptop", "credential": passkey_registration()}
    return Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=data)


def current_code() -> str:
    return code_at(SECRET, time.time())


def recovery_codes(user: User) -> list[str]:
    kind = Authenticator.Type.RECOVERY_CODES
    codes: list[str] = Authenticator.objects.get(user=user, type=kind).wrap().get_unused_codes()
    return codes


def add_passkey(browser: Client, device: PasskeyDevice) -> Any:
    options = browser.get("/accounts/2fa/webauthn/add/").context["js_data"]["creation_options"]
    form = {"name": "Laptop", "passwordless": "on", "credential": device.register(options)}
    return browser.post("/accounts/2fa/webauthn/add/", form)


def begin_passkey_sign_in(browser: Client) -> Any:
    """Start a passkey sign-in and return the request options from the sign-in page."""
    return browser.get(SIGN_IN, headers=_FETCH_HEADERS).json()["request_options"]


def sign_in_by_passkey(browser: Client, device: PasskeyDevice) -> Any:
    credential = device.sign_in(begin_passkey_sign_in(browser))
    return browser.post(SIGN_IN, {"credential": credential})


def is_signed_in(browser: Client) -> bool:
    return browser.get("/validation/").status_code == 200
