"""A user with a second factor proves it before sensitive pages: a password isn't enough."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account, Invitation, Membership, User
from accounts.roles import Role
from apikeys.services import create_key
from tests.conftest import PASSWORD, make_member, signed_in
from tests.site.actions import customers, sign_in
from tests.site.actions.world import TOKEN
from tests.site.test_every_action import PAGES
from tests.support.frozen_minute import freeze_time_but_not_processes
from tests.support.pages import registered_passkey
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import (
    PROVE,
    add_passkey,
    code_now,
    give_app,
    recovery_codes,
    sign_in_by_passkey,
)

__all__ = ["freeze_time_but_not_processes"]

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# Ask before anything else, also for a page that only shows something.
ASKS = {
    *("account_email", "account_change_password", "account_set_password"),
    *("mfa_activate_totp", "mfa_deactivate_totp"),
    *("mfa_add_webauthn", "mfa_edit_webauthn", "mfa_remove_webauthn"),
    *("mfa_view_recovery_codes", "mfa_download_recovery_codes", "mfa_generate_recovery_codes"),
    *("accounts:close-account", "accounts:export-account"),
    *("apikeys:create-key", "apikeys:rotate-key"),
}
# A recovery code must not show or replace the others.
NO_RECOVERY_CODE = {
    *("mfa_view_recovery_codes", "mfa_download_recovery_codes", "mfa_generate_recovery_codes"),
}
# Ask when the role in the form is that of an owner.
ASK_FOR_OWNERS = {"accounts:invite-member", "accounts:change-role"}
# Acts of people that need no new proof: what they do is small, can be undone, or takes rights away.
FREE = {
    *("account_login", "account_logout", "account_signup", "account_email_verification_sent"),
    *("account_reauthenticate", "account_reset_password", "account_reset_password_from_key"),
    *("mfa_authenticate", "mfa_reauthenticate", "mfa_login_webauthn", "usersessions_list"),
    *("accounts:edit-profile", "accounts:rename-account", "accounts:open-account"),
    *("accounts:export-audit-log", "accounts:agree-to-terms", "accounts:accept-invitation"),
    *("accounts:withdraw-invitation", "accounts:remove-member"),
    *("apikeys:change-key", "apikeys:revoke-key"),
    *("credits:change-threshold", "credits:order-pack", "credits:order-plan"),
    *("credits:choose-later-plan", "credits:cancel-order", "credits:receive-stripe-event"),
    *("validation:change-log-days", "validation:erase-address"),
}


@pytest.fixture
def browser(owner: User) -> Client:
    """Signed in with the password alone, before the owner's app was added elsewhere."""
    browser = signed_in(owner)
    give_app(owner)
    return browser


def address(name: str, owner: User, account: Account) -> str:
    if name == "apikeys:rotate-key":
        return reverse(
            name, args=[create_key(account=account, name="Key", actor=owner)[0].public_id]
        )
    if name in {"mfa_edit_webauthn", "mfa_remove_webauthn"}:
        kind, data = Authenticator.Type.WEBAUTHN, {"name": "A", "credential": registered_passkey()}
        return reverse(
            name, args=[Authenticator.objects.create(user=owner, type=kind, data=data).pk]
        )
    return reverse(name)


def asks(answer: Any) -> bool:
    where: str = answer.headers.get("Location", "")
    return where.startswith(f"{PROVE}?next=")


def test_every_act_asks_for_the_factor_or_is_named_as_free() -> None:
    acts = {act.page for act in [*customers.ACTS, *sign_in.ACTS]}
    assert acts == (ASKS | ASK_FOR_OWNERS | FREE) - {
        *("mfa_view_recovery_codes", "mfa_download_recovery_codes")
    }


def test_every_page_that_asks_is_known() -> None:
    assert {name for name, page in PAGES.items() if asks_for_factor(page.callback)} == ASKS


def asks_for_factor(view: Callable[..., Any] | None) -> bool:
    while view is not None and not hasattr(view, "asks_for_factor"):
        view = getattr(view, "__wrapped__", None)
    return view is not None


@pytest.mark.parametrize("name", sorted(ASKS))
def test_sensitive_page_asks_a_password_session_for_the_factor(
    name: str, browser: Client, owner: User, account: Account
) -> None:
    path = address(name, owner, account)
    if name != "accounts:export-account":
        assert asks(browser.get(path))
    assert asks(browser.post(path))


@pytest.mark.parametrize("name", sorted(ASKS))
def test_password_is_no_proof_where_there_is_a_factor(
    name: str, owner: User, account: Account
) -> None:
    """Not even one that was confirmed a moment before the factor was added."""
    browser = signed_in(owner)
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    give_app(owner)
    again = browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert again.headers["Location"] == PROVE
    assert asks(browser.post(address(name, owner, account)))


@pytest.mark.parametrize("name", sorted(ASKS))
def test_sensitive_page_opens_for_15_minutes_after_the_factor(
    name: str, browser: Client, owner: User, account: Account
) -> None:
    browser.post(PROVE, {"code": code_now()})
    path = address(name, owner, account)
    assert not asks(browser.get(path))
    with time_machine.travel(timezone.now() + timedelta(minutes=14), tick=False):
        assert not asks(browser.get(path))
    with time_machine.travel(timezone.now() + timedelta(minutes=16), tick=False):
        assert asks(browser.post(path))


def test_sign_in_with_the_factor_is_proof(owner: User) -> None:
    device, browser = PasskeyDevice(), Client()
    add_passkey(signed_in(owner), device)
    sign_in_by_passkey(browser, device)
    assert browser.get(reverse("apikeys:create-key")).status_code == 200


def test_factor_that_was_removed_since_is_no_proof(browser: Client, owner: User) -> None:
    browser.post(PROVE, {"code": code_now()})
    Authenticator.objects.filter(user=owner, type=Authenticator.Type.TOTP).delete()
    give_passkey(owner)
    answer = browser.get(reverse("apikeys:create-key"))
    assert answer.headers["Location"].startswith("/accounts/2fa/webauthn/reauthenticate/?next=")


def give_passkey(user: User) -> None:
    data = {"name": "Laptop", "credential": registered_passkey()}
    Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=data)


@pytest.mark.parametrize("name", sorted(ASKS))
def test_recovery_code_replaces_a_lost_factor_but_does_not_show_the_others(
    name: str, browser: Client, owner: User, account: Account
) -> None:
    browser.post(PROVE, {"code": recovery_codes(owner)[0]})
    answer = browser.get(address(name, owner, account))
    assert asks(answer) is (name in NO_RECOVERY_CODE)
    if name in NO_RECOVERY_CODE:
        page = browser.get(answer.headers["Location"])
        assert b"A recovery code can&#x27;t open this page." in page.content


@pytest.mark.parametrize("name", sorted(ASKS))
def test_user_without_a_factor_is_not_asked_for_one(
    name: str, owner: User, account: Account
) -> None:
    if not name.startswith("mfa_"):
        assert not asks(signed_in(owner).get(address(name, owner, account)))


def test_form_that_is_sent_too_late_says_so_and_its_password_is_not_kept(
    browser: Client, owner: User
) -> None:
    new = "a new long password"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    answer = browser.post(reverse("account_change_password"), form, follow=True)
    assert b"then send the form again. Nothing was changed." in answer.content
    assert new not in str([session.get_decoded() for session in Session.objects.all()])
    after = browser.post(answer.redirect_chain[-1][0], {"code": code_now()})
    assert after.headers["Location"] == reverse("account_change_password")


def test_export_that_was_asked_too_early_leads_back_to_its_button(browser: Client) -> None:
    answer = browser.post(reverse("accounts:export-account"))
    after = browser.post(answer.headers["Location"], {"code": code_now()})
    assert after.headers["Location"] == reverse("accounts:edit-profile")
    assert browser.post(reverse("accounts:export-account")).headers["Content-Disposition"]


def test_key_is_created_only_after_the_proof(browser: Client, account: Account) -> None:
    form = {**customers.KEY, "form_token": TOKEN}
    browser.post(reverse("apikeys:create-key"), form)
    assert not account.api_keys.exists()
    browser.post(PROVE, {"code": code_now()})
    browser.post(reverse("apikeys:create-key"), form)
    assert account.api_keys.exists()


def test_invited_owner_needs_the_factor_and_the_form_is_sent_on(
    browser: Client, account: Account
) -> None:
    form = {"email": "new@shop.example", "role": Role.OWNER.value}
    answer = browser.post(reverse("accounts:invite-member"), form)
    assert asks(answer)
    assert not Invitation.objects.exists()
    browser.post(answer.headers["Location"], {"code": code_now()})
    assert Invitation.objects.get().role == Role.OWNER


def test_promoted_owner_needs_the_factor_and_the_form_is_sent_on(
    browser: Client, account: Account
) -> None:
    member = Membership.objects.get(user=make_member(account, Role.VIEWER))
    path = reverse("accounts:change-role", args=[member.public_id])
    answer = browser.post(path, {"role": Role.OWNER.value})
    assert asks(answer)
    member.refresh_from_db()
    assert member.role == Role.VIEWER
    browser.post(answer.headers["Location"], {"code": code_now()})
    member.refresh_from_db()
    assert member.role == Role.OWNER


def test_other_roles_are_given_without_the_factor(browser: Client, account: Account) -> None:
    form = {"email": "new@shop.example", "role": Role.VIEWER.value}
    browser.post(reverse("accounts:invite-member"), form)
    assert Invitation.objects.get().role == Role.VIEWER


def test_recovery_codes_are_shown_right_after_the_first_factor_is_added(owner: User) -> None:
    browser = signed_in(owner)
    answer = add_passkey(browser, PasskeyDevice())
    assert answer.headers["Location"] == reverse("mfa_view_recovery_codes")
    assert recovery_codes(owner)[0] in browser.get(answer.headers["Location"]).content.decode()
