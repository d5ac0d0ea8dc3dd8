import re
from datetime import date
from urllib.parse import unquote

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AuditEntry, User
from accounts.staff.panels import Cell
from accounts.templatetags.staff_pages import cell_class, cell_html
from apikeys.models import ApiKey
from runtime.mail import outbox
from runtime.models import Mail
from tests.accounts.staff.staff_pages import client_in_group, visible_text
from tests.conftest import PASSWORD, signed_in
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import (
    REAUTHENTICATE,
    add_authenticator_app,
    add_passkey,
    current_code,
    recovery_codes,
    sign_in_by_passkey,
)

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def test_staff_without_a_second_factor_are_redirected_to_set_one_up_in_production(
    staff: User, settings: Settings
) -> None:
    settings.STAFF_NEED_SECOND_FACTOR = True
    client = signed_in(staff)
    response = client.get("/admin/accounts/account/", follow=True)
    assert response.redirect_chain[-1][0] == "/accounts/2fa/totp/activate/"
    assert b"Staff need a second factor" in response.content


def test_session_that_never_used_the_factor_is_redirected_to_use_it(
    staff: User, settings: Settings
) -> None:
    """The factor was added in another session, or recently in this one."""
    settings.STAFF_NEED_SECOND_FACTOR = True
    client = signed_in(staff)
    add_authenticator_app(staff)
    response = client.get("/admin/accounts/account/", follow=True)
    proof = f"{REAUTHENTICATE}?next=/admin/accounts/account/"
    assert unquote(response.redirect_chain[-1][0]) == proof
    assert b"Use your second factor to open the admin." in response.content
    assert client.get("/admin/accounts/account/").status_code == 302
    with time_machine.travel(timezone.now(), tick=False):
        after = client.post(response.redirect_chain[-1][0], {"code": current_code()})
    assert after.headers["Location"] == "/admin/accounts/account/"
    assert client.get("/admin/accounts/account/").status_code == 200


@pytest.mark.parametrize("method", ["passkey", "recovery code"])
def test_session_that_signed_in_with_a_factor_can_open_the_admin_until_it_is_removed(
    method: str, staff: User, settings: Settings
) -> None:
    settings.STAFF_NEED_SECOND_FACTOR = True
    device, client = PasskeyDevice(), Client()
    add_passkey(signed_in(staff), device)
    if method == "passkey":
        sign_in_by_passkey(client, device)
    else:
        client.post("/accounts/login/", {"login": staff.email, "password": PASSWORD})
        client.post("/accounts/2fa/authenticate/", {"code": recovery_codes(staff)[0]})
    assert client.get("/admin/accounts/account/").status_code == 200
    if method == "passkey":
        Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).delete()
        add_authenticator_app(staff)
        assert client.get("/admin/accounts/account/").status_code == 302


def test_second_factor_prompt_of_the_admin_never_redirects_off_site(
    staff: User, settings: Settings
) -> None:
    settings.STAFF_NEED_SECOND_FACTOR = True
    client = signed_in(staff)
    add_authenticator_app(staff)
    response = client.get("/admin/login/", {"next": "//evil.example"})
    with time_machine.travel(timezone.now(), tick=False):
        after = client.post(response.headers["Location"], {"code": current_code()})
    assert "evil.example" not in after.headers["Location"]


def search(client: Client, model: type[Model], text: str) -> str:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    return client.get(reverse(name), {"q": text}).content.decode()


def test_accounts_and_keys_are_found_by_account_owner_or_id(
    staff_client: Client, account: Account, key: ApiKey
) -> None:
    for text in ("The Shop", "owner@shop.example", account.public_id, key.last_four):
        assert key.display in search(staff_client, ApiKey, text)
        found = account.public_id in search(staff_client, Account, text)
        assert found is (text != key.last_four)


@pytest.mark.parametrize("group", ["Support", "Finance"])
def test_no_group_can_change_or_delete_users(group: str, owner: User) -> None:
    client = client_in_group(group)
    page = f"/admin/accounts/user/{owner.pk}/"
    assert client.get(f"{page}change/").status_code == 200
    assert client.post(f"{page}change/", {"name": "x"}).status_code == 403
    assert client.post(f"{page}delete/", {"post": "yes"}).status_code == 403


def test_secret_of_a_second_factor_is_never_shown(staff: User, owner: User) -> None:
    kind = Authenticator.Type.TOTP
    factor = Authenticator.objects.create(user=owner, type=kind, data={"secret": "SECRETSECRET"})
    page = signed_in(staff).get(f"/admin/mfa/authenticator/{factor.pk}/change/")
    assert page.status_code == 200
    assert b"SECRETSECRET" not in page.content


def test_staff_removing_a_lost_second_factor_notifies_its_user(staff: User, owner: User) -> None:
    kind = Authenticator.Type.TOTP
    factor = Authenticator.objects.create(user=owner, type=kind, data={"secret": "x"})
    signed_in(staff).post(f"/admin/mfa/authenticator/{factor.pk}/delete/", {"post": "yes"})
    assert not Authenticator.objects.exists()
    assert AuditEntry.objects.get(action="user.second_factor_removed_by_staff").actor == staff
    assert Mail.objects.get(to=owner.email).subject == "Your second factor was removed"


def test_staff_cannot_remove_their_own_second_factor_in_the_admin(
    staff_client: Client, staff: User
) -> None:
    """They have to use the Security page, which requires a proof."""
    kind = Authenticator.Type.TOTP
    factor = Authenticator.objects.create(user=staff, type=kind, data={"secret": "x"})
    staff_client.post(f"/admin/mfa/authenticator/{factor.pk}/delete/", {"post": "yes"})
    selected = {"action": "delete_selected", "_selected_action": [factor.pk], "post": "yes"}
    staff_client.post("/admin/mfa/authenticator/", selected)
    assert Authenticator.objects.get() == factor


def test_granting_staff_status_is_recorded(staff: User, owner: User) -> None:
    form = {"name": "", "is_active": "on", "is_staff": "on"}
    signed_in(staff).post(f"/admin/accounts/user/{owner.pk}/change/", form)
    entry = AuditEntry.objects.get(action="user.changed_by_staff")
    assert (entry.actor, entry.by_staff) == (staff, True)
    assert entry.account == owner.memberships.get().account
    assert entry.target == "owner@shop.example: Name: Olive Owner → none, Staff: no → yes"


def test_hidden_columns_cannot_be_filtered(staff_client: Client) -> None:
    for guess in (
        *("runtime/mail/?text__contains=secret", "runtime/mail/?html__startswith=s"),
        *("accounts/invitation/?token__startswith=a", "accounts/user/?password__startswith=a"),
    ):
        assert staff_client.get(f"/admin/{guess}").status_code == 400, guess


def test_form_with_an_error_keeps_the_tabs_of_the_account(staff: User, account: Account) -> None:
    page = f"/admin/accounts/account/{account.pk}/change/"
    response = signed_in(staff).post(page, {"name": ""})
    assert "This field is required." in response.content.decode()
    assert "?tab=billing" in response.content.decode()


def test_staff_can_resend_a_given_up_email(staff: User) -> None:
    mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
    Mail.objects.update(given_up_at=mail.created_at)
    data = {"action": "send_again", "_selected_action": [str(mail.pk)]}
    signed_in(staff).post("/admin/runtime/mail/", data)
    assert Mail.objects.get().given_up_at is None


@pytest.mark.both
@pytest.mark.parametrize(
    "path",
    [
        *("runtime/lease/a%00b/change/", "runtime/mail/?to=a%00b", "customers/a%00b/"),
        *(f"accounts/account/?{query}=a%00b" for query in ("name", "q")),
        *(f"accounts/account/?{query}={2**63}" for query in ("id__in", "created_at__year")),
        *("accounts/account/?created_at__year=0", "accounts/account/?name__regex=("),
        "accounts/user/1/change/?_to_field=",
    ],
)
def test_invalid_admin_url_is_refused_without_an_error(staff_client: Client, path: str) -> None:
    """Otherwise the database raises an error, which would end in a 500."""
    assert staff_client.get(f"/admin/{path}").status_code in {200, 302, 400, 404}


@pytest.mark.both
def test_admin_action_on_an_invalid_row_is_refused(staff_client: Client) -> None:
    for selected in ("x", "a\0b", str(2**63), ""):
        data = {"action": "suspend", "_selected_action": [selected]}
        response = staff_client.post("/admin/accounts/account/", data)
        assert response.status_code in {302, 400}, selected


def test_footer_of_the_admin_names_the_version_and_the_commit(
    staff_client: Client, settings: Settings
) -> None:
    settings.COMMIT = "4d6173b2a1f09c8e7d6b5a4938271605f4e3d2c1"
    for path in ("/admin/", "/admin/accounts/account/"):
        page = staff_client.get(path).content.decode()
        assert f"Version {settings.VERSION}, commit 4d6173b2a1f0<" in page


def test_empty_cells_are_empty(staff_client: Client, secret: str) -> None:
    for path in ("/admin/apikeys/apikey/", "/admin/accounts/user/"):
        page = staff_client.get(path).content.decode()
        cells = {visible_text(cell) for cell in re.findall(r"<td.*?</td>", page, re.DOTALL)}
        assert "" in cells
        assert not {"-", "\N{EN DASH}", "None"} & cells


@pytest.mark.parametrize(
    ("cell", "html", "css"),
    [
        (Cell(None), '<span aria-label="none">\N{EN DASH}</span>', "staff-moment"),
        (Cell(1_200), "1,200", "staff-number"),
        (Cell("USD 5.00", is_amount=True), "<bdi>USD 5.00</bdi>", "staff-number"),
        (Cell(date(2026, 11, 20)), "20 Nov 2026", "staff-moment"),
        (Cell("<b>", "/x/", "bad"), None, "staff-text"),
        (Cell("x" * 33), f"<bdi>{'x' * 33}</bdi>", "staff-text staff-text-long"),
    ],
)
def test_cell_is_rendered_by_its_type(cell: Cell, html: str | None, css: str) -> None:
    marked = '<a href="/x/"><span class="staff-tone staff-tone-bad"><bdi>&lt;b&gt;</bdi></span></a>'
    assert cell_html(cell) == (html or marked)
    assert cell_class(cell) == css
