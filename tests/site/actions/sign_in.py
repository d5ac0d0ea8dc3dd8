"""What people do at the door, on allauth's pages: ways in and out, and what opens them."""

import re
import time
from typing import Any

import time_machine
from allauth.mfa.models import Authenticator
from django.test import Client
from django.utils import timezone

from runtime.models import Mail
from tests.conftest import PASSWORD, signed_in
from tests.journeys.authenticator_app import code_at
from tests.site.actions.world import Act, World
from tests.support.passkey_device import PasskeyDevice

WRONG, NEW = "a wrong password", "a new long password"
NEWCOMER = {"email": "jane@newcomer.example", "password1": PASSWORD}


def _in(pattern: str) -> str:
    found = re.search(pattern, Mail.objects.latest("pk").text, re.M)
    assert found
    return found[1]


def code_in_mail() -> str:
    return _in(r"^([A-Z0-9]{4}-[A-Z0-9]{4})$")


def _sign_in(password: str) -> Any:
    def perform(world: World) -> Any:
        form = {"login": world.owner.email, "password": password}
        return world.send(Client(), "account_login", **form)

    return perform


def _confirm_sign_up(world: World) -> Any:
    client = Client()
    client.post("/accounts/signup/", NEWCOMER)
    return world.send(client, "account_email_verification_sent", code=code_in_mail())


def _ask_for_change(world: World) -> Any:
    form = {"email": "olive@shop.example", "action_add": ""}
    return world.send(world.browser, "account_email", **form)


def _change_email(world: World) -> Any:
    _ask_for_change(world)
    return world.send(world.browser, "account_email_verification_sent", code=code_in_mail())


def _change_password(world: World) -> Any:
    form = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    return world.send(world.browser, "account_change_password", **form)


def _set_password(world: World) -> Any:
    world.owner.set_unusable_password()
    world.owner.save()
    client = Client()
    client.force_login(world.owner)
    return world.send(client, "account_set_password", password1=NEW, password2=NEW)


def _ask_for_reset(world: World) -> Any:
    return world.send(Client(), "account_reset_password", email=world.owner.email)


def _reset_password(world: World) -> Any:
    _ask_for_reset(world)
    client = Client()
    page = client.get(_in(r"^http\S+?(/accounts/password/reset/key/\S+)$")).headers["Location"]
    return world.send_to(client, page, {"password1": NEW, "password2": NEW})


def _activate(world: World) -> str:
    """Answers the secret of the authenticator app."""
    secret: str = world.browser.get("/accounts/2fa/totp/activate/").context["form"].secret
    # The clock stands still: a code of the last moment would be refused in the next.
    with time_machine.travel(timezone.now(), tick=False):
        world.send(world.browser, "mfa_activate_totp", code=code_at(secret, time.time()))
    return secret


def _with_app(page: str, **form: Any) -> Any:
    def perform(world: World) -> Any:
        secret = _activate(world)
        with time_machine.travel(timezone.now(), tick=False):
            code = code_at(secret, time.time())
            world.browser.post("/accounts/2fa/reauthenticate/", {"code": code})
        return world.send(world.browser, page, **form)

    return perform


def _half_way_in(world: World) -> tuple[Client, str]:
    """The password was right, and the code is asked for."""
    _activate(world)
    codes = Authenticator.objects.get(user=world.owner, type=Authenticator.Type.RECOVERY_CODES)
    client = Client()
    client.post("/accounts/login/", {"login": world.owner.email, "password": PASSWORD})
    return client, codes.wrap().get_unused_codes()[0]


def _give_code(world: World) -> Any:
    client, code = _half_way_in(world)
    return world.send(client, "mfa_authenticate", code=code)


def _give_wrong_code(world: World) -> Any:
    client, _ = _half_way_in(world)
    return world.send(client, "mfa_authenticate", code="00000000")


def _add_passkey(world: World) -> PasskeyDevice:
    device = PasskeyDevice()
    options = world.browser.get("/accounts/2fa/webauthn/add/").context["js_data"]
    credential = device.register(options["creation_options"])
    form = {"name": "Laptop", "passwordless": "on", "credential": credential}
    world.send(world.browser, "mfa_add_webauthn", **form)
    return device


def _of_passkey(page: str, **form: Any) -> Any:
    def perform(world: World) -> Any:
        _add_passkey(world)
        passkey = Authenticator.objects.get(user=world.owner, type=Authenticator.Type.WEBAUTHN)
        return world.send(world.browser, page, passkey.pk, **form)

    return perform


def _sign_in_by_passkey(world: World) -> Any:
    device, client = _add_passkey(world), Client()
    path, asked = "/accounts/2fa/webauthn/login/", {"X-Requested-With": "XMLHttpRequest"}
    options = client.get(path, headers=asked).json()["request_options"]
    return world.send(client, "mfa_login_webauthn", credential=device.sign_in(options))


def _end_sessions(world: World) -> Any:
    assert world.browser
    return world.send(signed_in(world.owner), "usersessions_list")


ACTS = [
    Act("account_login", "user.signed_in", _sign_in(PASSWORD)),
    Act("account_login", "user.sign_in_failed", _sign_in(WRONG), by="nobody"),
    Act("account_logout", "user.signed_out", lambda w: w.send(w.browser, "account_logout")),
    Act(
        "account_signup",
        "account.opened",
        lambda world: world.send(Client(), "account_signup", **NEWCOMER),
        by="newcomer",
    ),
    Act("account_email_verification_sent", "user.email_confirmed", _confirm_sign_up, by="newcomer"),
    Act("account_email_verification_sent", "user.email_changed", _change_email),
    Act("account_email", "user.email_change_asked", _ask_for_change),
    Act("account_change_password", "user.password_changed", _change_password),
    Act("account_set_password", "user.password_set", _set_password),
    Act("account_reset_password", "user.password_reset_asked", _ask_for_reset, by="nobody"),
    Act("account_reset_password_from_key", "user.password_reset", _reset_password),
    Act(
        "account_reauthenticate",
        "user.sign_in_failed",
        lambda w: w.send(w.browser, "account_reauthenticate", password=WRONG),
        by="nobody",
    ),
    Act("mfa_authenticate", "user.signed_in", _give_code),
    Act("mfa_authenticate", "user.second_factor_failed", _give_wrong_code, by="nobody"),
    Act(
        "mfa_reauthenticate",
        "user.second_factor_failed",
        _with_app("mfa_reauthenticate", code="00000000"),
        by="nobody",
    ),
    Act("mfa_activate_totp", "user.second_factor_added", _activate),
    Act("mfa_deactivate_totp", "user.second_factor_removed", _with_app("mfa_deactivate_totp")),
    Act(
        "mfa_generate_recovery_codes",
        "user.recovery_codes_renewed",
        _with_app("mfa_generate_recovery_codes"),
    ),
    Act("mfa_add_webauthn", "user.second_factor_added", _add_passkey),
    Act(
        "mfa_edit_webauthn",
        "user.passkey_renamed",
        _of_passkey("mfa_edit_webauthn", name="My laptop"),
    ),
    Act("mfa_remove_webauthn", "user.second_factor_removed", _of_passkey("mfa_remove_webauthn")),
    Act("mfa_login_webauthn", "user.signed_in", _sign_in_by_passkey),
    Act("usersessions_list", "user.sessions_ended", _end_sessions),
]

# Pages that take a form and change nothing, each with the reason.
NOTHING = {
    "mfa_reauthenticate_webauthn": "shows again who one is; what is done then has its own entry",
    "mfa_index": "leads to our page Security",
    "account_confirm_login_code": "sign-in by a mailed code is off: it leads to the sign-in",
}
