"""The life of a key, with what is recorded and who is told."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts import services as accounts
from accounts.models import Account, AuditEntry, User
from accounts.retention import erase_account
from accounts.roles import Role
from apikeys import services
from apikeys.models import MOST_ACTIVE, AlreadyRotated, ApiKey, TooManyKeys
from apikeys.services import KeyIsNotActive
from runtime.models import Mail
from tests.conftest import make_member
from tests.support.api_client import ApiClient, code_of

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def whole_database() -> str:
    """Everything that is stored, as one text."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        texts = []
        for table in tables:
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            texts.append(repr(cursor.fetchall()))
    return "\n".join(texts)


def test_nothing_of_the_secret_is_stored_but_a_digest_and_its_ends(
    key: ApiKey, secret: str
) -> None:
    ApiClient(secret).validate("deliverable@sandbox.test", Idempotency_Key="one")
    stored = whole_database()
    assert key.digest in stored
    assert secret not in stored
    for start in range(len("svc_live_") + 1, len(secret) - 8):
        assert secret[start : start + 8] not in stored
    assert key.display == f"svc_live_{secret[9:13]}…{secret[-4:]}"


def test_a_new_key_is_recorded_and_its_owners_and_admins_are_told(
    account: Account, owner: User
) -> None:
    developer = make_member(account, Role.DEVELOPER)
    admin = make_member(account, Role.ADMIN)
    make_member(account, Role.VIEWER)
    key, secret = services.create_key(
        account=account, name="Sign-up form", actor=developer, ip="203.0.113.9"
    )
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor, entry.ip) == ("key.created", developer, "203.0.113.9")
    assert key.display in entry.target
    mails = Mail.objects.all()
    assert {mail.to for mail in mails} == {owner.email, admin.email, developer.email}
    assert all(secret not in mail.text + mail.html + mail.subject for mail in mails)
    assert all(key.display in mail.text for mail in mails)


def test_customers_are_not_told_who_of_the_staff_it_was(
    key: ApiKey, owner: User, staff: User
) -> None:
    services.revoke_key(key=key, actor=staff)
    mail = Mail.objects.latest("pk")
    assert "Our support revoked the API key" in mail.text
    assert staff.email not in mail.text + mail.html
    assert AuditEntry.objects.latest("pk").actor == staff


def test_a_creator_who_left_the_account_is_told_nothing_more(account: Account, owner: User) -> None:
    developer = make_member(account, Role.DEVELOPER)
    key, _ = services.create_key(account=account, name="Sign-up form", actor=developer)
    developer.memberships.all().delete()
    Mail.objects.all().delete()
    services.revoke_key(key=key, actor=owner)
    assert [mail.to for mail in Mail.objects.all()] == [owner.email]


def test_a_key_is_revoked_once(key: ApiKey, owner: User) -> None:
    assert services.revoke_key(key=key, actor=owner) is True
    first = ApiKey.objects.get().revoked_at
    assert services.revoke_key(key=ApiKey.objects.get(), actor=owner) is False
    assert ApiKey.objects.get().revoked_at == first
    assert AuditEntry.objects.filter(action="key.revoked").count() == 1
    assert Mail.objects.filter(subject__startswith="API key revoked").count() == 1


def test_a_rotated_key_has_a_follower_with_the_same_settings(account: Account, owner: User) -> None:
    old, old_secret = services.create_key(
        account=account,
        name="Sign-up form",
        actor=owner,
        expires_at=timezone.now() + timedelta(days=90),
        allowed_networks=["198.51.100.0/24"],
        requests_per_minute=7,
    )
    new, new_secret = services.rotate_key(key=old, grace=HOUR, actor=owner)
    assert (new.name, new.allowed_networks, new.requests_per_minute) == (
        "Sign-up form",
        ["198.51.100.0/24"],
        7,
    )
    assert new.expires_at is not None
    assert timedelta(days=89) < new.expires_at - timezone.now() <= timedelta(days=90)
    assert old.replaced_by == new
    assert ApiClient(old_secret).get("/v1/me").status_code == 200
    assert ApiClient(new_secret).get("/v1/me").status_code == 200
    ApiKey.objects.filter(pk=old.pk).update(expires_at=timezone.now())
    assert code_of(ApiClient(old_secret).get("/v1/me")) == "api_key_expired"


@pytest.mark.parametrize("grace", services.GRACES[1:])
def test_the_old_key_lives_on_for_as_long_as_was_chosen(
    key: ApiKey, owner: User, grace: timedelta
) -> None:
    services.rotate_key(key=key, grace=grace, actor=owner)
    assert key.expires_at is not None
    assert grace - HOUR / 2 < key.expires_at - timezone.now() <= grace


def test_without_grace_the_old_key_stops_at_once(key: ApiKey, secret: str, owner: User) -> None:
    services.rotate_key(key=key, grace=timedelta(0), actor=owner)
    assert code_of(ApiClient(secret).get("/v1/me")) == "api_key_revoked"
    assert "stopped working at once" in Mail.objects.latest("pk").text


def test_grace_never_lengthens_a_life(account: Account, owner: User) -> None:
    soon = timezone.now() + HOUR
    key, _ = services.create_key(account=account, name="Short", actor=owner, expires_at=soon)
    services.rotate_key(key=key, grace=timedelta(days=7), actor=owner)
    assert key.expires_at == soon


def test_a_key_is_rotated_once(key: ApiKey, owner: User) -> None:
    services.rotate_key(key=key, grace=HOUR, actor=owner)
    with pytest.raises(AlreadyRotated):
        services.rotate_key(key=key, grace=HOUR, actor=owner)


def test_a_revoked_key_cannot_be_rotated_into_a_living_one(key: ApiKey, owner: User) -> None:
    services.revoke_key(key=key, actor=owner)
    with pytest.raises(KeyIsNotActive):
        services.rotate_key(key=key, grace=HOUR, actor=owner)


def fill(account: Account, owner: User) -> None:
    for number in range(MOST_ACTIVE - account.api_keys.active().count()):
        services.create_key(account=account, name=f"Server {number}", actor=owner)


def test_an_account_has_at_most_20_active_keys(account: Account, owner: User) -> None:
    fill(account, owner)
    with pytest.raises(TooManyKeys):
        services.create_key(account=account, name="One too many", actor=owner)
    services.revoke_key(key=account.api_keys.latest("pk"), actor=owner)
    services.create_key(account=account, name="In its place", actor=owner)


def test_also_rotation_keeps_to_20(account: Account, owner: User) -> None:
    fill(account, owner)
    key = account.api_keys.latest("pk")
    with pytest.raises(services.NoRoomForBoth, match="Stop the old one at once"):
        services.rotate_key(key=key, grace=HOUR, actor=owner)
    key.refresh_from_db()
    assert key.is_active
    assert key.expires_at is None
    services.rotate_key(key=key, grace=timedelta(0), actor=owner)
    assert account.api_keys.active().count() == MOST_ACTIVE


def test_a_closed_account_gets_no_key(account: Account, owner: User) -> None:
    accounts.close_account(account=account, actor=owner)
    with pytest.raises(services.AccountIsClosed):
        services.create_key(account=account, name="Late", actor=owner)


def test_closing_an_account_revokes_its_keys_on_record(
    account: Account, owner: User, key: ApiKey
) -> None:
    accounts.close_account(account=account, actor=owner)
    key.refresh_from_db()
    assert key.is_revoked
    assert AuditEntry.objects.filter(action="key.revoked", target=str(key)).exists()


def test_erasing_an_account_leaves_the_rows_without_what_tells_of_people(
    account: Account, owner: User, caller: ApiClient
) -> None:
    caller.get("/v1/me")
    accounts.close_account(account=account, actor=owner)
    Account.objects.update(closed_at=timezone.now() - timedelta(days=31))
    account.refresh_from_db()
    erase_account(account=account)
    key = ApiKey.objects.get()
    assert (key.name, key.created_by, key.last_used_ip) == ("erased", None, None)


def test_the_export_names_the_keys_without_their_digests(
    account: Account, owner: User, key: ApiKey
) -> None:
    export = accounts.export_account(account=account, actor=owner)
    (exported,) = export["api_keys"]
    assert (exported["id"], exported["display"]) == (key.public_id, key.display)
    assert key.digest not in repr(export)


def test_an_expiry_is_announced_once_a_week_before(account: Account, owner: User) -> None:
    for name, days in (("Soon", 6), ("Later", 8)):
        end = timezone.now() + timedelta(days=days)
        services.create_key(account=account, name=name, actor=owner, expires_at=end)
    Mail.objects.all().delete()
    services.announce_expiries()
    services.announce_expiries()
    (mail,) = Mail.objects.all()
    assert mail.subject == "API key expires soon in The Shop: Soon"


@pytest.mark.parametrize("days", [None, 3])
def test_the_end_of_a_rotated_key_is_not_announced(
    account: Account, owner: User, days: int | None
) -> None:
    end = days and timezone.now() + timedelta(days=days)
    key, _ = services.create_key(account=account, name="Old", actor=owner, expires_at=end or None)
    services.rotate_key(key=key, grace=timedelta(days=7), actor=owner)
    ApiKey.objects.exclude(pk=key.pk).update(expires_at=None)
    Mail.objects.all().delete()
    services.announce_expiries()
    assert not Mail.objects.exists()
