"""Sensitive pages require a recent proof of the second factor from users who have one."""

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
from tests.accounts.webhooks.factory import make_endpoint
from tests.conftest import PASSWORD, make_member, signed_in_by_form
from tests.site.actions import customers, sign_in
from tests.site.test_every_action import PAGES
from tests.support.frozen_minute import freeze_time_but_not_processes
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import (
    REAUTHENTICATE,
    add_authenticator_app,
    add_passkey,
    current_code,
    give_passkey,
    recovery_codes,
    sign_in_by_passkey,
)

__all__ = ["freeze_time_but_not_processes"]

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# Pages that require the factor even to view them.
REQUIRE_FACTOR = {
    *("account_email", "account_change_password", "account_set_password"),
    *("mfa_activate_totp", "mfa_deactivate_totp"),
    *("mfa_add_webauthn", "mfa_edit_webauthn", "mfa_remove_webauthn", "socialaccount_connections"),
    *("mfa_view_recovery_codes", "mfa_download_recovery_codes", "mfa_generate_recovery_codes"),
    *("accounts:close-account", "accounts:export-account", "accounts:require-second-factor"),
    *("apikeys:create-key", "apikeys:rotate-key"),
    *("accounts:create-webhook", "accounts:change-webhook", "accounts:rotate-webhook"),
}
# One page of ours and one of allauth's: all pages have the same decorator, which a test asserts.
TWO_PAGES = ["apikeys:rotate-key", "mfa_edit_webauthn"]
# A GET redirects to the page that has the form.
FORMS_OF_OTHER_PAGES = {"accounts:export-account", "accounts:require-second-factor"}
# A recovery code must not reveal or replace the others.
REFUSE_RECOVERY_CODES = {
    *("mfa_view_recovery_codes", "mfa_download_recovery_codes", "mfa_generate_recovery_codes")
}
# Pages that require the factor if the form contains the role of owner.
REQUIRE_FACTOR_FOR_OWNERS = {"accounts:invite-member", "accounts:change-role"}
# Actions that require no proof: they are minor, can be undone, or take rights away.
EXEMPT = {
    *("account_login", "account_logout", "account_signup", "account_email_verification_sent"),
    "socialaccount_signup",
    *("account_reauthenticate", "account_reset_password", "account_reset_password_from_key"),
    *("mfa_authenticate", "mfa_reauthenticate", "mfa_login_webauthn", "usersessions_list"),
    *("accounts:edit-profile", "accounts:rename-account", "accounts:open-account"),
    *("accounts:export-audit-log", "accounts:agree-to-terms", "accounts:accept-invitation"),
    *("accounts:withdraw-invitation", "accounts:remove-member", "accounts:change-notifications"),
    *("apikeys:change-key", "apikeys:revoke-key"),
    *("accounts:enable-webhook", "accounts:disable-webhook", "accounts:delete-webhook"),
    *("accounts:send-test-event", "accounts:replay-delivery"),
    "accounts:replay-failed-deliveries",
    *("credits:change-threshold", "credits:order-pack", "credits:order-plan"),
    *("credits:choose-later-plan", "credits:cancel-order", "credits:receive-stripe-event"),
    *("credits:save-card", "credits:remove-card"),
    *("credits:edit-automatic-top-up", "credits:switch-off-automatic-top-up"),
    *("validation:change-log-days", "validation:erase-address", "validation:export-requests"),
    *("lists:create-list", "lists:choose-column", "lists:choose-encoding", "lists:start-list"),
    *("lists:rename-list", "lists:rerun-list", "lists:delete-lists"),
    *("lists:pause-list", "lists:resume-list", "lists:finish-list", "lists:cancel-list"),
    *("lists:delete-list", "lists:download-list", "lists:create-upload"),
    *("lists:cancel-upload", "validation:save-domains", "validation:send-feedback"),
}


@pytest.fixture
def browser(owner: User) -> Client:
    """Return a browser that signed in with the password before the owner's app was added."""
    browser = signed_in_by_form(owner)
    add_authenticator_app(owner)
    return browser


def page_url(name: str, owner: User, account: Account) -> str:
    if name in {"accounts:change-webhook", "accounts:rotate-webhook"}:
        return reverse(name, args=[make_endpoint(account, "https://hooks.shop.example/").public_id])
    if name == "apikeys:rotate-key":
        return reverse(
            name, args=[create_key(account=account, name="Key", actor=owner)[0].public_id]
        )
    if name in {"mfa_edit_webauthn", "mfa_remove_webauthn"}:
        return reverse(name, args=[give_passkey(owner).pk])
    return reverse(name)


def redirects_to_proof(response: Any) -> bool:
    location: str = response.headers.get("Location", "")
    return location.startswith(f"{REAUTHENTICATE}?next=")


def test_every_page_and_action_requires_the_factor_or_is_listed_as_exempt() -> None:
    pages = {case.page for case in [*customers.CASES, *sign_in.CASES]}
    assert pages == (REQUIRE_FACTOR | REQUIRE_FACTOR_FOR_OWNERS | EXEMPT) - {
        *("mfa_view_recovery_codes", "mfa_download_recovery_codes")
    }
    required = {name for name, page in PAGES.items() if requires_factor(page.callback)}
    assert required == REQUIRE_FACTOR


def requires_factor(view: Callable[..., Any] | None) -> bool:
    while view is not None and not hasattr(view, "requires_factor"):
        view = getattr(view, "__wrapped__", None)
    return view is not None


def test_sensitive_page_requires_the_factor_in_a_password_session(
    browser: Client, owner: User, account: Account
) -> None:
    for name in sorted(REQUIRE_FACTOR):
        path = page_url(name, owner, account)
        if name not in FORMS_OF_OTHER_PAGES:
            assert redirects_to_proof(browser.get(path)), name
        assert redirects_to_proof(browser.post(path)), name


def test_password_is_no_proof_for_a_user_with_a_factor(owner: User, account: Account) -> None:
    """Not even a password that was confirmed just before the factor was added."""
    browser = signed_in_by_form(owner)
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    add_authenticator_app(owner)
    response = browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert response.headers["Location"] == REAUTHENTICATE
    for name in TWO_PAGES:
        assert redirects_to_proof(browser.post(page_url(name, owner, account))), name


def test_sensitive_page_opens_for_15_minutes_after_the_factor(
    browser: Client, owner: User, account: Account
) -> None:
    browser.post(REAUTHENTICATE, {"code": current_code()})
    now = timezone.now()
    for path in [page_url(name, owner, account) for name in TWO_PAGES]:
        assert not redirects_to_proof(browser.get(path)), path
        with time_machine.travel(now + timedelta(minutes=14), tick=False):
            assert not redirects_to_proof(browser.get(path)), path
        with time_machine.travel(now + timedelta(minutes=16), tick=False):
            assert redirects_to_proof(browser.post(path)), path


def test_sign_in_with_the_factor_is_proof(owner: User) -> None:
    device, browser = PasskeyDevice(), Client()
    add_passkey(signed_in_by_form(owner), device)
    sign_in_by_passkey(browser, device)
    assert browser.get(reverse("apikeys:create-key")).status_code == 200


def test_removed_factor_is_no_proof(browser: Client, owner: User) -> None:
    browser.post(REAUTHENTICATE, {"code": current_code()})
    Authenticator.objects.filter(user=owner, type=Authenticator.Type.TOTP).delete()
    give_passkey(owner)
    response = browser.get(reverse("apikeys:create-key"))
    assert response.headers["Location"].startswith("/accounts/2fa/webauthn/reauthenticate/?next=")


@pytest.mark.parametrize("name", [*TWO_PAGES, *sorted(REFUSE_RECOVERY_CODES)])
def test_recovery_code_replaces_a_lost_factor_but_does_not_show_the_others(
    name: str, browser: Client, owner: User, account: Account
) -> None:
    browser.post(REAUTHENTICATE, {"code": recovery_codes(owner)[0]})
    response = browser.get(page_url(name, owner, account))
    assert redirects_to_proof(response) is (name in REFUSE_RECOVERY_CODES)
    if name in REFUSE_RECOVERY_CODES:
        page = browser.get(response.headers["Location"])
        assert b"A recovery code can&#x27;t open this page." in page.content


def test_user_without_a_factor_is_not_asked_for_one(owner: User, account: Account) -> None:
    path = page_url("apikeys:rotate-key", owner, account)
    assert not redirects_to_proof(signed_in_by_form(owner).get(path))


def test_late_form_is_refused_and_its_password_is_not_stored(browser: Client) -> None:
    new_password = "a new long password"
    form = {"oldpassword": PASSWORD, "password1": new_password, "password2": new_password}
    response = browser.post(reverse("account_change_password"), form, follow=True)
    assert b"then submit the form again." in response.content
    assert new_password not in str([session.get_decoded() for session in Session.objects.all()])
    after = browser.post(response.redirect_chain[-1][0], {"code": current_code()})
    assert after.headers["Location"] == reverse("account_change_password")


def test_refused_export_leads_back_to_the_page_with_its_button(browser: Client) -> None:
    response = browser.post(reverse("accounts:export-account"))
    after = browser.post(response.headers["Location"], {"code": current_code()})
    assert after.headers["Location"] == reverse("accounts:edit-profile")
    assert browser.post(reverse("accounts:export-account")).headers["Content-Disposition"]


def test_inviting_an_owner_requires_the_factor_and_resumes_the_form(
    browser: Client, account: Account
) -> None:
    form = {"email": "new@shop.example", "role": Role.OWNER.value}
    response = browser.post(reverse("accounts:invite-member"), form)
    assert redirects_to_proof(response)
    assert not Invitation.objects.exists()
    browser.post(response.headers["Location"], {"code": current_code()})
    assert Invitation.objects.get().role == Role.OWNER


def test_promoting_an_owner_requires_the_factor_and_resumes_the_form(
    browser: Client, account: Account
) -> None:
    member = Membership.objects.get(user=make_member(account, Role.VIEWER))
    path = reverse("accounts:change-role", args=[member.public_id])
    response = browser.post(path, {"role": Role.OWNER.value})
    assert redirects_to_proof(response)
    member.refresh_from_db()
    assert member.role == Role.VIEWER
    browser.post(response.headers["Location"], {"code": current_code()})
    member.refresh_from_db()
    assert member.role == Role.OWNER


def test_inviting_other_roles_does_not_require_the_factor(
    browser: Client, account: Account
) -> None:
    form = {"email": "new@shop.example", "role": Role.VIEWER.value}
    browser.post(reverse("accounts:invite-member"), form)
    assert Invitation.objects.get().role == Role.VIEWER


def test_recovery_codes_are_shown_right_after_the_first_factor_is_added(owner: User) -> None:
    browser = signed_in_by_form(owner)
    response = add_passkey(browser, PasskeyDevice())
    assert response.headers["Location"] == reverse("mfa_view_recovery_codes")
    assert recovery_codes(owner)[0] in browser.get(response.headers["Location"]).content.decode()
