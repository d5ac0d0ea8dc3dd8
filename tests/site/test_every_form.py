"""No form on any page lets users escalate privileges or create credits."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, Permission
from django.test import Client

from accounts.models import Account, Membership, User
from accounts.roles import Role
from apikeys.models import ApiKey
from credits.models import Order, Wallet
from tests.conftest import make_user, signed_in
from tests.support.pages import all_pages, browser_for, mark_second_factor_used, populate_account

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

FORM = {
    "name": "A name",
    "role": "viewer",
    "email": "deliverable@sandbox.test",
    "grace": "0",
    "form_token": "a" * 32,
    "buyer_name": "The Shop Ltd",
    "country": "US",
    "buyer_address": "1 Street",
    "plan": "starter",
    "reason": "Because",
    "amount": "5",
    "action_add": "",
    "post": "yes",
    "threshold": "5",
    "log_days": "7",
}
# Our columns, and names that similar programs often use.
HIDDEN_FIELDS = {
    **dict.fromkeys(("is_staff", "is_superuser", "is_active", "verified", "primary", "paid"), "on"),
    **dict.fromkeys(("credits", "balance", "amount_cents", "quantity", "granted"), "999999"),
    **dict.fromkeys(("requests_per_minute", "requests_per_minute_override"), "99999"),
    **dict.fromkeys(("net_cents", "tax_cents", "total_cents", "price_cents", "debt"), "0"),
    **dict.fromkeys(("user", "user_id", "owner", "actor", "groups", "user_permissions"), "1"),
    "state": "paid",
    "status": "paid",
    "paid_at": "2026-01-01",
    "suspended_at": "",
    "public_id": "acc_" + "a" * 20,
    "digest": "a" * 64,
    "password": "x",
    "method": "invoice",
    "date_joined": "2001-01-01",
    "terms_version": "2099-01-01",
    "closed_at": "2026-01-01",
}


def snapshot_users() -> Any:
    users = User.objects.order_by("pk")
    columns = ("email", "password", "is_staff", "is_superuser", "is_active", "date_joined")
    return (
        list(users.values_list(*columns, "groups", "user_permissions")),
        list(Group.objects.order_by("pk").values_list("name", "permissions")),
        sorted(EmailAddress.objects.values_list("user", "email", "verified")),
    )


def snapshot_account(account: Account) -> Any:
    limits = ("public_id", "requests_per_minute", "requests_per_minute_override")
    return (
        Account.objects.values_list(*limits, "suspended_at", "closed_at").get(pk=account.pk),
        Wallet.objects.values_list("balance", "held", "debt").get(account=account),
        # Users may open another account, with the usual limits.
        set(Account.objects.values_list(*limits[1:])),
        Wallet.objects.filter(balance__gt=100).count(),
        account.ledger.count(),
        list(Order.objects.exclude(paid_at=None)),
        set(ApiKey.objects.values_list("account", flat=True)),
        list(account.memberships.filter(role=Role.OWNER).values_list("user", flat=True)),
    )


def assert_no_escalation(browser: Client, owner: User, account: Account, *, staff: bool) -> None:
    values = populate_account(owner, account)
    mark_second_factor_used(browser, owner)
    users_before, account_before = snapshot_users(), snapshot_account(account)
    for page in all_pages().values():
        # Skip signing out, which ends the session, and the API, which has no forms.
        if page.is_api or page.is_admin is not staff or "logout" in page.route:
            continue
        path = page.path(values)
        response = browser.post(path, {**HIDDEN_FIELDS, **FORM, "account": account.public_id})
        assert response.status_code < 500, path
        assert snapshot_users() == users_before, path
        assert snapshot_account(account) == account_before, path


def test_no_form_accepts_fields_it_does_not_show(
    owner: User, account: Account, stranger: User
) -> None:
    assert_no_escalation(browser_for(owner), owner, account, staff=False)


def test_viewer_cannot_gain_permissions_on_any_page(owner: User, account: Account) -> None:
    viewer = make_user("viewer@shop.example")
    membership = account.memberships.create(user=viewer, role=Role.VIEWER)
    assert_no_escalation(browser_for(viewer), owner, account, staff=False)
    # One of the last pages lets members leave the account.
    remaining = Membership.objects.filter(pk=membership.pk).first()
    assert remaining is None or remaining.role == Role.VIEWER


@pytest.mark.proof
def test_support_staff_cannot_escalate_privileges(
    owner: User, account: Account, staff: User
) -> None:
    support = make_user("support@service.example", is_staff=True)
    support.groups.add(Group.objects.get(name="Support"))
    # Suspending is a legitimate permission of Support.
    suspend = Permission.objects.filter(codename="suspend_account")
    Group.objects.get(name="Support").permissions.remove(*suspend)
    assert_no_escalation(signed_in(support), owner, account, staff=True)
    assert Authenticator.objects.filter(user=owner).exists()


def test_staff_who_can_change_users_cannot_make_staff(owner: User) -> None:
    clerk = make_user("clerk@service.example", is_staff=True)
    clerk.user_permissions.add(Permission.objects.get(codename="change_user"))
    clerk.user_permissions.add(Permission.objects.get(codename="view_user"))
    browser = signed_in(clerk)
    for user in (clerk, owner):
        form = {"name": "New", "is_active": "on", "is_staff": "on", "is_superuser": "on"}
        counts = {f"memberships-{count}_FORMS": "0" for count in ("TOTAL", "INITIAL")}
        response = browser.post(f"/admin/accounts/user/{user.pk}/change/", {**form, **counts})
        assert response.status_code == 302
    assert list(User.objects.filter(is_superuser=True)) == []
    assert list(User.objects.filter(is_staff=True)) == [clerk]
    assert set(User.objects.values_list("name", flat=True)) == {"New"}


@pytest.mark.parametrize("method", ["get", "post"])
def test_staff_cannot_set_a_users_password(staff: User, owner: User, method: str) -> None:
    form = {"password1": "a new long one", "password2": "a new long one", "usable_password": "true"}
    path = f"/admin/accounts/user/{owner.pk}/password/"
    assert getattr(signed_in(staff), method)(path, form).status_code == 403
    old_hash = owner.password
    owner.refresh_from_db()
    assert owner.password == old_hash
