from urllib.parse import unquote

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AuditEntry, User
from runtime.mail import outbox
from runtime.models import Mail
from tests.conftest import PASSWORD, make_user, signed_in
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import (
    PROVE,
    add_passkey,
    code_now,
    give_app,
    recovery_codes,
    sign_in_by_passkey,
)

pytestmark = pytest.mark.django_db

_BESIDE = ("memberships", "wallet", "subscription", "orders", "ledger")
EMPTY_INLINES = {f"{of}-{count}_FORMS": "0" for of in _BESIDE for count in ("TOTAL", "INITIAL")}

OURS = [model for model in admin.site._registry if model._meta.app_label == "accounts"]


def in_group(name: str) -> Client:
    user = make_user(f"{name.lower()}@service.example", is_staff=True)
    user.groups.add(Group.objects.get(name=name))
    return signed_in(user)


def act_on(client: Client, account: Account, action: str) -> int:
    data = {"action": action, "_selected_action": [str(account.pk)]}
    return client.post("/admin/accounts/account/", data).status_code


def test_the_admin_stands_behind_the_same_sign_in(client: Client) -> None:
    answer = client.get("/admin/", follow=True)
    assert answer.redirect_chain[-1][0].startswith("/accounts/login/?next=")


def test_customers_are_refused(owner: User) -> None:
    assert signed_in(owner).get("/admin/", follow=True).status_code == 403


def test_in_production_staff_without_a_second_factor_are_led_to_set_one_up(
    staff: User, settings: Settings
) -> None:
    settings.STAFF_NEED_SECOND_FACTOR = True
    client = signed_in(staff)
    answer = client.get("/admin/accounts/account/", follow=True)
    assert answer.redirect_chain[-1][0] == "/accounts/2fa/totp/activate/"
    assert b"Staff need a second factor" in answer.content


def test_admin_asks_a_session_that_never_used_the_factor_for_it(
    staff: User, settings: Settings
) -> None:
    """The factor was added in another session, or recently in this one."""
    settings.STAFF_NEED_SECOND_FACTOR = True
    client = signed_in(staff)
    give_app(staff)
    answer = client.get("/admin/accounts/account/", follow=True)
    proof = f"{PROVE}?next=/admin/accounts/account/"
    assert unquote(answer.redirect_chain[-1][0]) == proof
    assert b"Use your second factor to open the admin." in answer.content
    assert client.get("/admin/accounts/account/").status_code == 302
    with time_machine.travel(timezone.now(), tick=False):
        after = client.post(answer.redirect_chain[-1][0], {"code": code_now()})
    assert after.headers["Location"] == "/admin/accounts/account/"
    assert client.get("/admin/accounts/account/").status_code == 200


@pytest.mark.parametrize("way", ["passkey", "recovery code"])
def test_admin_opens_to_a_session_that_signed_in_with_a_factor(
    way: str, staff: User, settings: Settings
) -> None:
    settings.STAFF_NEED_SECOND_FACTOR = True
    device, client = PasskeyDevice(), Client()
    add_passkey(signed_in(staff), device)
    if way == "passkey":
        sign_in_by_passkey(client, device)
    else:
        client.post("/accounts/login/", {"login": staff.email, "password": PASSWORD})
        client.post("/accounts/2fa/authenticate/", {"code": recovery_codes(staff)[0]})
    assert client.get("/admin/accounts/account/").status_code == 200


def test_admin_closes_to_a_session_whose_factor_was_removed(
    staff: User, settings: Settings
) -> None:
    settings.STAFF_NEED_SECOND_FACTOR = True
    device, client = PasskeyDevice(), Client()
    add_passkey(signed_in(staff), device)
    sign_in_by_passkey(client, device)
    Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).delete()
    give_app(staff)
    assert client.get("/admin/accounts/account/").status_code == 302


def test_admins_proof_never_leads_off_the_site(staff: User, settings: Settings) -> None:
    settings.STAFF_NEED_SECOND_FACTOR = True
    client = signed_in(staff)
    give_app(staff)
    answer = client.get("/admin/login/", {"next": "//evil.example"})
    with time_machine.travel(timezone.now(), tick=False):
        after = client.post(answer.headers["Location"], {"code": code_now()})
    assert "evil.example" not in after.headers["Location"]


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_each_list_opens_searches_and_shows_an_object(
    model: type, staff: User, owner: User
) -> None:
    outbox.queue_mail(to=owner.email, subject="Hello", text="secret-code", html="secret-code")
    client = signed_in(staff)
    name = f"admin:accounts_{model.__name__.lower()}"
    assert client.get(reverse(f"{name}_changelist"), {"q": "shop"}).status_code == 200
    first = model._default_manager.first()  # type: ignore[attr-defined]
    if first is not None:
        page = client.get(reverse(f"{name}_change", args=[first.pk]))
        assert page.status_code == 200
        assert b"secret-code" not in page.content


@pytest.mark.parametrize("search", ["The Shop", "owner@shop.example", "acc_"])
def test_an_account_is_found_by_name_id_and_members_address(
    search: str, staff: User, account: Account
) -> None:
    search = account.public_id if search == "acc_" else search
    page = signed_in(staff).get("/admin/accounts/account/", {"q": search})
    assert account.public_id.encode() in page.content


def test_support_looks_suspends_and_lifts(account: Account) -> None:
    client = in_group("Support")
    act_on(client, account, "suspend")
    account.refresh_from_db()
    assert account.suspended_at
    act_on(client, account, "lift_suspension")
    account.refresh_from_db()
    assert not account.suspended_at
    by = AuditEntry.objects.filter(action__startswith="account.susp").values_list("actor_name")
    assert set(by) == {("support@service.example",)}


def test_finance_looks_and_cannot_suspend(account: Account) -> None:
    client = in_group("Finance")
    assert client.get("/admin/accounts/account/").status_code == 200
    act_on(client, account, "suspend")
    account.refresh_from_db()
    assert account.suspended_at is None


@pytest.mark.parametrize("group", ["Support", "Finance"])
def test_neither_group_changes_or_deletes_anybody(group: str, owner: User) -> None:
    client = in_group(group)
    page = f"/admin/accounts/user/{owner.pk}/"
    assert client.get(f"{page}change/").status_code == 200
    assert client.post(f"{page}change/", {"name": "x"}).status_code == 403
    assert client.post(f"{page}delete/", {"post": "yes"}).status_code == 403


def test_the_secret_of_a_second_factor_is_shown_to_nobody(staff: User, owner: User) -> None:
    kind = Authenticator.Type.TOTP
    factor = Authenticator.objects.create(user=owner, type=kind, data={"secret": "SECRETSECRET"})
    page = signed_in(staff).get(f"/admin/mfa/authenticator/{factor.pk}/change/")
    assert page.status_code == 200
    assert b"SECRETSECRET" not in page.content


def test_staff_remove_a_second_factor_that_was_lost_and_its_user_is_told(
    staff: User, owner: User
) -> None:
    kind = Authenticator.Type.TOTP
    factor = Authenticator.objects.create(user=owner, type=kind, data={"secret": "x"})
    signed_in(staff).post(f"/admin/mfa/authenticator/{factor.pk}/delete/", {"post": "yes"})
    assert not Authenticator.objects.exists()
    assert AuditEntry.objects.get(action="user.second_factor_removed_by_staff").actor == staff
    assert Mail.objects.get(to=owner.email).subject == "A second factor was removed"


def test_staff_do_not_remove_their_own_second_factor_in_the_admin(staff: User) -> None:
    """The Security page does it, which asks for a proof."""
    browser = signed_in(staff)
    kind = Authenticator.Type.TOTP
    factor = Authenticator.objects.create(user=staff, type=kind, data={"secret": "x"})
    browser.post(f"/admin/mfa/authenticator/{factor.pk}/delete/", {"post": "yes"})
    selected = {"action": "delete_selected", "_selected_action": [factor.pk], "post": "yes"}
    browser.post("/admin/mfa/authenticator/", selected)
    assert Authenticator.objects.get() == factor


def test_making_somebody_staff_is_noted(staff: User, owner: User) -> None:
    form = {"name": "", "is_active": "on", "is_staff": "on"}
    inline = EMPTY_INLINES
    signed_in(staff).post(f"/admin/accounts/user/{owner.pk}/change/", {**form, **inline})
    entry = AuditEntry.objects.get(action="user.changed_by_staff")
    assert (entry.actor, entry.by_staff) == (staff, True)
    assert entry.account == owner.memberships.get().account
    assert entry.target == "owner@shop.example: Name: Olive Owner → none, Is staff: no → yes"


@pytest.mark.parametrize(
    "guess",
    [
        "runtime/mail/?text__contains=secret",
        "runtime/mail/?html__startswith=s",
        "accounts/invitation/?token__startswith=a",
        "accounts/user/?password__startswith=a",
    ],
)
def test_what_is_hidden_cannot_be_guessed_by_filtering(guess: str, staff: User) -> None:
    answer = signed_in(staff).get(f"/admin/{guess}")
    assert answer.status_code == 400


LIMIT = "Requests per minute override"


def test_what_staff_change_in_an_account_is_noted(staff: User, account: Account) -> None:
    page = f"/admin/accounts/account/{account.pk}/change/"
    form = {"name": "The Shop", "requests_per_minute_override": "90"}
    inline = EMPTY_INLINES
    signed_in(staff).post(page, {**form, **inline})
    entry = account.audit_entries.get(action="account.changed_by_staff")
    assert (entry.actor, entry.target) == (staff, f"{LIMIT}: none → 90")


def test_staff_send_a_given_up_mail_again(staff: User) -> None:
    mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
    Mail.objects.update(given_up_at=mail.created_at)
    data = {"action": "send_again", "_selected_action": [str(mail.pk)]}
    signed_in(staff).post("/admin/runtime/mail/", data)
    assert Mail.objects.get().given_up_at is None


@pytest.mark.parametrize(
    "address",
    [
        "/admin/runtime/lease/a%00b/change/",
        "/admin/runtime/mail/?to=a%00b",
        "/admin/accounts/account/?name=a%00b",
        "/admin/accounts/account/?q=a%00b",
        "/admin/usage/a%00b/",
        f"/admin/accounts/account/?id__in={2**63}",
        f"/admin/accounts/account/?created_at__year={2**63}",
        "/admin/accounts/account/?created_at__year=0",
        "/admin/accounts/account/?name__regex=(",
        "/admin/accounts/user/1/change/?_to_field=",
    ],
)
def test_an_address_that_no_row_can_have_is_refused(staff: User, address: str) -> None:
    """The database would say so with an error."""
    assert signed_in(staff).get(address).status_code in {200, 302, 400, 404}


@pytest.mark.parametrize("chosen", ["x", "a\0b", str(2**63), ""])
def test_an_act_on_a_row_that_cannot_be_is_refused(staff: User, chosen: str) -> None:
    data = {"action": "suspend", "_selected_action": [chosen]}
    answer = signed_in(staff).post("/admin/accounts/account/", data)
    assert answer.status_code in {302, 400}
