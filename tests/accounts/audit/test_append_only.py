"""The database accepts new audit entries, and refuses to change or delete any outside erasure."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.audit import record
from accounts.models import Account, AuditEntry, User
from tests.accounts.staff.staff_pages import client_in_group
from tests.conftest import make_user, signed_in
from tests.support.request_address import request_from

pytestmark = pytest.mark.django_db

REFUSED = "append-only"


def run(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def entry(account: Account, owner: User) -> AuditEntry:
    with request_from("192.0.2.1"):
        return record(account, owner, "key.revoked", "Server")


def test_entries_cannot_be_changed(entry: AuditEntry) -> None:
    for change in (
        *("action = 'user.signed_in'", "target = 'Another'", "target = ''"),
        *("actor_name = 'jane@else.example'", "actor_name = 'erased'", "ip = NULL"),
        *("by_staff = true", "at = '2026-01-01 00:00:00+00:00'", "account_id = NULL"),
        "id = id + 1000",
    ):
        with pytest.raises(DatabaseError, match=REFUSED):
            run("UPDATE accounts_auditentry SET " + change)  # noqa: S608 - the constants above


def test_entries_cannot_be_assigned_to_another_user_or_deleted(entry: AuditEntry) -> None:
    other = make_user("other@shop.example")
    with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic():
        AuditEntry.objects.filter(pk=entry.pk).update(actor=other)
    for entries in (AuditEntry.objects.filter(pk=entry.pk), AuditEntry.objects.all()):
        with pytest.raises(DatabaseError, match=REFUSED), transaction.atomic():
            entries.delete()
    record(None, None, "plan.changed_by_staff")
    with pytest.raises(DatabaseError, match=REFUSED):
        run("DELETE FROM accounts_auditentry WHERE account_id IS NULL")


def test_entries_cannot_be_truncated_or_replaced(entry: AuditEntry) -> None:
    if connection.vendor == "postgresql":
        # PostgreSQL itself refuses TRUNCATE while deferred foreign key checks are pending.
        run("SET CONSTRAINTS ALL IMMEDIATE")
        statement = "TRUNCATE accounts_auditentry CASCADE"
    else:
        statement = (
            "INSERT OR REPLACE INTO accounts_auditentry "
            "(id, account_id, actor_name, by_staff, action, target, at) "
            "SELECT id, account_id, actor_name, by_staff, 'x', target, at FROM accounts_auditentry"
        )
    with pytest.raises(DatabaseError, match=REFUSED):
        run(statement)
    assert AuditEntry.objects.filter(action="key.revoked").exists()


def test_entry_remains_after_its_user_is_deleted(entry: AuditEntry, owner: User) -> None:
    owner.delete()
    entry.refresh_from_db()
    assert (entry.actor, entry.actor_name) == (None, "owner@shop.example")


def test_personal_data_can_be_erased_and_entries_of_an_erased_account_deleted(
    entry: AuditEntry, account: Account
) -> None:
    entries = AuditEntry.objects.filter(pk=entry.pk)
    assert entries.update(actor_name="erased", ip=None, target="erased") == 1
    account.erased_at = timezone.now()
    account.save()
    account.audit_entries.all().delete()
    assert not entries.exists()


@pytest.mark.anywhere
@pytest.mark.parametrize("group", ["superuser", "Support", "Finance"])
def test_staff_cannot_change_entries(entry: AuditEntry, staff: User, group: str) -> None:
    client = signed_in(staff) if group == "superuser" else client_in_group(group)
    page = f"/admin/accounts/auditentry/{entry.pk}/"
    assert client.get(f"{page}change/").status_code == 200
    responses: list[Any] = [
        client.post(f"{page}change/", {"action": "x"}),
        client.post(f"{page}delete/", {"post": "yes"}),
        client.post("/admin/accounts/auditentry/add/", {"action": "x"}),
    ]
    assert [response.status_code for response in responses] == [403, 403, 403]
