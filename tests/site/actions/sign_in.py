"""Actions on allauth's pages: signing in and out, passwords, second factors and sessions."""

import time
from typing import Any

import time_machine
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import get_adapter
from django.test import Client
from django.utils import timezone

from tests.accounts.authentication.providers.helpers import connect
from tests.conftest import PASSWORD, signed_in_by_form
from tests.journeys.authenticator_app import code_at
from tests.servers.identity_provider import Person
from tests.site.actions.scene import ActionCase, Scene
from tests.support.passkey_device import PasskeyDevice
from tests.support.received_email import code_in_email, path_in_email

WRONG_PASSWORD, NEW_PASSWORD = "a wrong password", "a new long password"
NEW_USER = {"email": "jane@signup.example", "password1": PASSWORD}


def _sign_in(password: str) -> Any:
    def perform(scene: Scene) -> Any:
        form = {"login": scene.owner.email, "password": password}
        return scene.send(Client(), "account_login", **form)

    return perform


def _confirm_sign_up(scene: Scene) -> Any:
    client = Client()
    client.post("/accounts/signup/", NEW_USER)
    return scene.send(client, "account_email_verification_sent", code=code_in_email())


def _request_email_change(scene: Scene) -> Any:
    form = {"email": "olive@shop.example", "action_add": ""}
    return scene.send(scene.browser, "account_email", **form)


def _change_email(scene: Scene) -> Any:
    _request_email_change(scene)
    return scene.send(scene.browser, "account_email_verification_sent", code=code_in_email())


def _change_password(scene: Scene) -> Any:
    form = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    return scene.send(scene.browser, "account_change_password", **form)


def _set_password(scene: Scene) -> Any:
    scene.owner.set_unusable_password()
    scene.owner.save()
    client = Client()
    client.force_login(scene.owner)
    return scene.send(
        client, "account_set_password", password1=NEW_PASSWORD, password2=NEW_PASSWORD
    )


def _request_password_reset(scene: Scene) -> Any:
    return scene.send(Client(), "account_reset_password", email=scene.owner.email)


def _reset_password(scene: Scene) -> Any:
    _request_password_reset(scene)
    client = Client()
    link = path_in_email("/accounts/password/reset/key/")
    path = client.get(link).headers["Location"]
    return scene.send_to(client, path, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})


def _activate_app(scene: Scene) -> str:
    """Set up an authenticator app and return its secret."""
    secret: str = scene.browser.get("/accounts/2fa/totp/activate/").context["form"].secret
    # Freeze the clock: a code generated at the end of its period would expire before it is sent.
    with time_machine.travel(timezone.now(), tick=False):
        scene.send(scene.browser, "mfa_activate_totp", code=code_at(secret, time.time()))
    return secret


def _app_case(page: str, action: str, actor: str = "owner", **form: Any) -> ActionCase:
    def perform(scene: Scene) -> Any:
        secret = _activate_app(scene)
        with time_machine.travel(timezone.now(), tick=False):
            code = code_at(secret, time.time())
            scene.browser.post("/accounts/2fa/reauthenticate/", {"code": code})
        return scene.send(scene.browser, page, **form)

    return ActionCase(page, action, perform, actor=actor)


def _begin_sign_in(scene: Scene) -> tuple[Client, str]:
    """Sign in with the password; return the browser on the second step and a recovery code."""
    _activate_app(scene)
    codes = Authenticator.objects.get(user=scene.owner, type=Authenticator.Type.RECOVERY_CODES)
    client = Client()
    client.post("/accounts/login/", {"login": scene.owner.email, "password": PASSWORD})
    return client, codes.wrap().get_unused_codes()[0]


def _send_code(scene: Scene) -> Any:
    client, code = _begin_sign_in(scene)
    return scene.send(client, "mfa_authenticate", code=code)


def _send_wrong_code(scene: Scene) -> Any:
    client, _ = _begin_sign_in(scene)
    return scene.send(client, "mfa_authenticate", code="00000000")


def _add_passkey(scene: Scene) -> PasskeyDevice:
    device = PasskeyDevice()
    options = scene.browser.get("/accounts/2fa/webauthn/add/").context["js_data"]
    credential = device.register(options["creation_options"])
    form = {"name": "Laptop", "passwordless": "on", "credential": credential}
    scene.send(scene.browser, "mfa_add_webauthn", **form)
    return device


def _passkey_case(page: str, action: str, **form: Any) -> ActionCase:
    def perform(scene: Scene) -> Any:
        _add_passkey(scene)
        passkey = Authenticator.objects.get(user=scene.owner, type=Authenticator.Type.WEBAUTHN)
        return scene.send(scene.browser, page, passkey.pk, **form)

    return ActionCase(page, action, perform)


def _sign_in_by_passkey(scene: Scene) -> Any:
    device, client = _add_passkey(scene), Client()
    path, headers = "/accounts/2fa/webauthn/login/", {"X-Requested-With": "XMLHttpRequest"}
    options = client.get(path, headers=headers).json()["request_options"]
    return scene.send(client, "mfa_login_webauthn", credential=device.sign_in(options))


def _end_sessions(scene: Scene) -> Any:
    assert scene.browser
    return scene.send(signed_in_by_form(scene.owner), "usersessions_list")


def _sign_up_by_provider(scene: Scene) -> Any:
    client, provider = Client(), get_adapter().get_provider(None, "google")
    known = {"sub": "4711", "email": NEW_USER["email"], "email_verified": True}
    session = client.session
    login = provider.sociallogin_from_response(None, known)
    session["socialaccount_sociallogin"] = login.serialize()
    session.save()
    return scene.send(client, "socialaccount_signup")


def _disconnect_provider(scene: Scene) -> Any:
    connection = connect(scene.owner, Person("jane@signup.example"))
    return scene.send(scene.browser, "socialaccount_connections", account=connection.pk)


CASES = [
    ActionCase("account_login", "user.signed_in", _sign_in(PASSWORD)),
    ActionCase("account_login", "user.sign_in_failed", _sign_in(WRONG_PASSWORD), actor="anonymous"),
    ActionCase(
        "account_logout",
        "user.signed_out",
        lambda scene: scene.send(scene.browser, "account_logout"),
    ),
    ActionCase(
        "account_signup",
        "account.opened",
        lambda scene: scene.send(Client(), "account_signup", **NEW_USER),
        actor="new user",
    ),
    ActionCase(
        "account_email_verification_sent",
        "user.email_confirmed",
        _confirm_sign_up,
        actor="new user",
    ),
    ActionCase("account_email_verification_sent", "user.email_changed", _change_email),
    ActionCase("account_email", "user.email_change_asked", _request_email_change),
    ActionCase("account_change_password", "user.password_changed", _change_password),
    ActionCase("account_set_password", "user.password_set", _set_password),
    ActionCase(
        "account_reset_password",
        "user.password_reset_asked",
        _request_password_reset,
        actor="anonymous",
    ),
    ActionCase("account_reset_password_from_key", "user.password_reset", _reset_password),
    ActionCase(
        "account_reauthenticate",
        "user.sign_in_failed",
        lambda scene: scene.send(scene.browser, "account_reauthenticate", password=WRONG_PASSWORD),
        actor="anonymous",
    ),
    ActionCase("mfa_authenticate", "user.signed_in", _send_code),
    ActionCase(
        "mfa_authenticate", "user.second_factor_failed", _send_wrong_code, actor="anonymous"
    ),
    _app_case("mfa_reauthenticate", "user.second_factor_failed", "anonymous", code="00000000"),
    ActionCase("mfa_activate_totp", "user.second_factor_added", _activate_app),
    _app_case("mfa_deactivate_totp", "user.second_factor_removed"),
    _app_case("mfa_generate_recovery_codes", "user.recovery_codes_renewed"),
    ActionCase("mfa_add_webauthn", "user.second_factor_added", _add_passkey),
    _passkey_case("mfa_edit_webauthn", "user.passkey_renamed", name="My laptop"),
    _passkey_case("mfa_remove_webauthn", "user.second_factor_removed"),
    ActionCase("mfa_login_webauthn", "user.signed_in", _sign_in_by_passkey),
    ActionCase("socialaccount_signup", "account.opened", _sign_up_by_provider, actor="new user"),
    ActionCase("socialaccount_connections", "user.provider_disconnected", _disconnect_provider),
    ActionCase("usersessions_list", "user.sessions_ended", _end_sessions),
]

# Pages that accept a form without changing anything, each with the reason.
UNAUDITED_PAGES = {
    "google_login": "leads to the provider; what follows there is audited",
    "github_login": "leads to the provider; what follows there is audited",
    "mfa_reauthenticate_webauthn": "only reauthenticates; the action that follows is audited",
    "accounts:suggest-correction": "corrects an address that is being typed, and stores nothing",
    "account_confirm_login_code": "sign-in by emailed code is off: redirects to sign-in",
}
