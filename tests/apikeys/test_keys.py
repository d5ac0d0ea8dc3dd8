"""Creating, rotating and revoking keys: services, emails, commands, and staff pages."""

import re
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts import services as accounts
from accounts.models import Account, AuditEntry, User
from accounts.retention import erase_account
from accounts.roles import Role
from accounts.services import open_account
from apikeys import services
from apikeys.emails import describe_need, describe_old_key
from apikeys.forms import GRACE_HOURS
from apikeys.models import MAX_ACTIVE_KEYS, ApiKey, KeyChangeRefused, TooManyKeys
from runtime.models import Mail
from tests.accounts.staff.staff_pages import client_in_group
from tests.conftest import make_member, signed_in
from tests.site.test_no_secret_in_the_database import all_stored_values
from tests.support.api_client import ApiClient, error_code

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

HOUR = timedelta(hours=1)
MOMENT = datetime(2026, 11, 3, 9, 5, tzinfo=UTC)


@pytest.mark.both
def test_only_a_digest_and_the_mask_of_a_secret_are_stored(key: ApiKey, secret: str) -> None:
    ApiClient(secret).validate("deliverable@sandbox.test", Idempotency_Key="one")
    stored = "\n".join(all_stored_values())
    assert key.digest in stored
    assert secret not in stored
    for start in range(len("svc_live_") + 1, len(secret) - 8):
        assert secret[start : start + 8] not in stored
    assert key.display == f"svc_live_{secret[9:13]}…{secret[-4:]}"


def test_new_key_is_recorded_and_owners_admins_and_creator_get_an_email(
    account: Account, owner: User
) -> None:
    developer = make_member(account, Role.DEVELOPER)
    admin = make_member(account, Role.ADMIN)
    make_member(account, Role.VIEWER)
    key, secret = services.create_key(account=account, name="Sign-up form", actor=developer)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor) == ("key.created", developer)
    assert key.display in entry.target
    mails = Mail.objects.all()
    assert {mail.to for mail in mails} == {owner.email, admin.email, developer.email}
    assert all(secret not in mail.text + mail.html + mail.subject for mail in mails)
    assert all(key.display in mail.text for mail in mails)
    # The creator leaves the account.
    developer.memberships.all().delete()
    Mail.objects.all().delete()
    services.revoke_key(key=key, actor=owner)
    assert {mail.to for mail in Mail.objects.all()} == {owner.email, admin.email}


def test_second_revocation_changes_nothing_and_emails_do_not_name_staff(
    key: ApiKey, owner: User, staff: User
) -> None:
    assert services.revoke_key(key=key, actor=staff) is True
    first = ApiKey.objects.get().revoked_at
    assert services.revoke_key(key=ApiKey.objects.get(), actor=owner) is False
    assert ApiKey.objects.get().revoked_at == first
    assert AuditEntry.objects.get(action="key.revoked").actor == staff
    mail = Mail.objects.get(subject__startswith="API key revoked")
    assert "Our support team revoked the API key" in mail.text
    assert staff.email not in mail.text + mail.html


@pytest.mark.both
def test_replacement_has_the_settings_of_the_rotated_key(account: Account, owner: User) -> None:
    old, old_secret = services.create_key(
        account=account,
        name="Sign-up form",
        actor=owner,
        expires_at=timezone.now() + timedelta(days=90),
        allowed_networks=["198.51.100.0/24"],
        requests_per_minute=7,
        scopes=["lists:read"],
    )
    new, new_secret = services.rotate_key(key=old, grace=HOUR, actor=owner)
    assert (new.name, new.allowed_networks) == ("Sign-up form", ["198.51.100.0/24"])
    assert (new.requests_per_minute, new.scope_names) == (7, ["lists:read"])
    assert new.expires_at is not None
    assert timedelta(days=89) < new.expires_at - timezone.now() <= timedelta(days=90)
    assert old.replaced_by == new
    assert ApiClient(old_secret).get("/v1/me").status_code == 200
    assert ApiClient(new_secret).get("/v1/me").status_code == 200
    ApiKey.objects.filter(pk=old.pk).update(expires_at=timezone.now())
    assert error_code(ApiClient(old_secret).get("/v1/me")) == "api_key_expired"


@pytest.mark.parametrize("hours", GRACE_HOURS)
def test_rotated_key_works_for_the_grace_period_and_not_longer_than_before(
    account: Account, key: ApiKey, secret: str, owner: User, hours: int
) -> None:
    grace = timedelta(hours=hours)
    services.rotate_key(key=key, grace=grace, actor=owner)
    if not grace:
        assert error_code(ApiClient(secret).get("/v1/me")) == "api_key_revoked"
        assert "no longer works" in Mail.objects.latest("pk").text
        return
    assert key.expires_at is not None
    assert grace - HOUR / 2 < key.expires_at - timezone.now() <= grace
    soon = timezone.now() + HOUR / 2
    short, _ = services.create_key(account=account, name="Short", actor=owner, expires_at=soon)
    services.rotate_key(key=short, grace=grace, actor=owner)
    assert short.expires_at == soon


def test_rotated_or_revoked_key_cannot_be_rotated(key: ApiKey, owner: User) -> None:
    replacement, _ = services.rotate_key(key=key, grace=HOUR, actor=owner)
    with pytest.raises(KeyChangeRefused, match="Rotate its replacement"):
        services.rotate_key(key=key, grace=HOUR, actor=owner)
    services.revoke_key(key=replacement, actor=owner)
    with pytest.raises(KeyChangeRefused, match="no longer active"):
        services.rotate_key(key=replacement, grace=HOUR, actor=owner)


def create_maximum_of_keys(account: Account, owner: User) -> None:
    for number in range(MAX_ACTIVE_KEYS - account.api_keys.active().count()):
        services.create_key(account=account, name=f"Server {number}", actor=owner)


def test_account_has_at_most_20_active_keys_also_by_rotation(account: Account, owner: User) -> None:
    create_maximum_of_keys(account, owner)
    with pytest.raises(TooManyKeys):
        services.create_key(account=account, name="One too many", actor=owner)
    key = account.api_keys.latest("pk")
    with pytest.raises(KeyChangeRefused, match="Revoke the old key now"):
        services.rotate_key(key=key, grace=HOUR, actor=owner)
    key.refresh_from_db()
    assert key.is_active
    assert key.expires_at is None
    services.rotate_key(key=key, grace=timedelta(0), actor=owner)
    assert account.api_keys.active().count() == MAX_ACTIVE_KEYS
    services.revoke_key(key=account.api_keys.latest("pk"), actor=owner)
    services.create_key(account=account, name="In its place", actor=owner)


def test_closing_an_account_revokes_its_keys_and_refuses_new_ones(
    account: Account, owner: User, key: ApiKey
) -> None:
    accounts.close_account(account=account, actor=owner)
    key.refresh_from_db()
    assert key.is_revoked
    assert AuditEntry.objects.filter(action="key.revoked", target=str(key)).exists()
    with pytest.raises(KeyChangeRefused, match="closed"):
        services.create_key(account=account, name="Late", actor=owner)


@pytest.mark.both
def test_erasing_an_account_removes_personal_data_from_its_keys(
    account: Account, owner: User, caller: ApiClient
) -> None:
    caller.get("/v1/me")
    accounts.close_account(account=account, actor=owner)
    Account.objects.update(closed_at=timezone.now() - timedelta(days=31))
    account.refresh_from_db()
    erase_account(account=account)
    key = ApiKey.objects.get()
    assert (key.name, key.created_by, key.last_used_ip) == ("erased", None, None)


def test_export_contains_keys_without_digests(account: Account, owner: User, key: ApiKey) -> None:
    export: dict[str, Any] = accounts.export_account(account=account, actor=owner)
    (exported,) = export["api_keys"]
    assert (exported["id"], exported["display"]) == (key.public_id, key.display)
    assert key.digest not in repr(export)


@pytest.mark.both
def test_expiry_is_announced_a_week_ahead_and_only_once(account: Account, owner: User) -> None:
    for name, days in (("Soon", 6), ("Later", 8)):
        end = timezone.now() + timedelta(days=days)
        services.create_key(account=account, name=name, actor=owner, expires_at=end)
    Mail.objects.all().delete()
    services.send_expiry_notices()
    services.send_expiry_notices()
    (mail,) = Mail.objects.all()
    assert mail.subject == "API key in The Shop expires soon: Soon"


@pytest.mark.both
@pytest.mark.parametrize("days", [None, 3])
def test_expiry_of_a_rotated_key_is_not_announced(
    account: Account, owner: User, days: int | None
) -> None:
    end = days and timezone.now() + timedelta(days=days)
    key, _ = services.create_key(account=account, name="Old", actor=owner, expires_at=end or None)
    services.rotate_key(key=key, grace=timedelta(days=7), actor=owner)
    ApiKey.objects.exclude(pk=key.pk).update(expires_at=None)
    Mail.objects.all().delete()
    services.send_expiry_notices()
    assert not Mail.objects.exists()


def make_key(**fields: object) -> ApiKey:
    account = Account(requests_per_minute=1_200)
    return ApiKey(account=account, first_four="Ab1c", last_four="9xYz", **fields)


def test_old_key_is_described_until_it_no_longer_works() -> None:
    sentence = "The old key, svc_live_Ab1c…9xYz, works until 3 Nov 2026, 09:05 UTC."
    assert describe_old_key(make_key(expires_at=MOMENT)) == sentence
    key = make_key(revoked_at=MOMENT, expires_at=MOMENT)
    assert describe_old_key(key) == "The old key, svc_live_Ab1c…9xYz, no longer works."


def test_used_and_unused_keys_get_different_advice() -> None:
    assert describe_need(make_key(last_used_at=MOMENT)).startswith("This key is in use.")
    assert describe_need(make_key()).startswith("This key has never been used.")


def create_key(email: str, name: str = "Server") -> str:
    printed = StringIO()
    call_command("create_key", email, "--name", name, stdout=printed)
    return printed.getvalue()


def test_create_key_prints_only_a_key_of_the_owners_first_account(
    account: Account, owner: User
) -> None:
    open_account(user=owner, name="The second")
    printed = create_key(owner.email.upper())
    assert re.fullmatch(r"svc_live_[0-9A-Za-z]{38}\n", printed)
    assert ApiClient(printed.strip()).get("/v1/me").json()["account"]["name"] == account.name
    assert ApiKey.objects.get().created_by is None


def test_create_key_reports_invalid_arguments(owner: User) -> None:
    with pytest.raises(CommandError, match=r"unknown@shop.example doesn't own an open account"):
        create_key("unknown@shop.example")
    with pytest.raises(CommandError, match="valid email"):
        create_key("\udcff@shop.example")
    for name in ("", "  ", "x" * 51):
        with pytest.raises(CommandError, match="1 to 50 characters"):
            create_key(owner.email, name)
    with pytest.raises(CommandError, match=r"can.t be displayed"):
        create_key(owner.email, "a\nb")
    with pytest.raises(CommandError, match="link"):
        create_key(owner.email, "https://evil.example")
    for _ in range(MAX_ACTIVE_KEYS):
        create_key(owner.email)
    with pytest.raises(CommandError, match="at most 20 active keys"):
        create_key(owner.email)


def test_admin_shows_neither_secret_nor_digest(staff: User, key: ApiKey, secret: str) -> None:
    page = signed_in(staff).get(f"/admin/apikeys/apikey/{key.pk}/change/").content.decode()
    assert key.display in page
    assert key.digest not in page
    assert secret not in page
    filtered = signed_in(staff).get("/admin/apikeys/apikey/", {"digest__startswith": "a"})
    assert filtered.status_code in {302, 400}


def test_staff_can_revoke_a_key(staff: User, key: ApiKey, caller: ApiClient) -> None:
    chosen = {"action": "revoke", "_selected_action": [key.pk]}
    response = signed_in(staff).post("/admin/apikeys/apikey/", chosen, follow=True)
    assert "Revoked: The Shop&#x27;s server." in response.content.decode()
    assert caller.get("/v1/me").status_code == 401


@pytest.mark.parametrize(("group", "can_revoke"), [("Support", True), ("Finance", False)])
def test_support_can_view_and_revoke_keys_but_finance_can_only_view_them(
    key: ApiKey, group: str, can_revoke: bool
) -> None:
    page = client_in_group(group).get("/admin/apikeys/apikey/").content.decode()
    assert key.display in page
    assert ('value="revoke"' in page) is can_revoke
