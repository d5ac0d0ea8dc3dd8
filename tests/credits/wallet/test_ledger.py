"""The ledger is append-only, and updates the wallet."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from accounts.models import Account, User
from credits.models import EntryKind, LedgerEntry, Wallet
from credits.models.catalog import MAX_CREDITS
from credits.services import InvalidAmount, deduct, grant, post_entry
from credits.wallet.books import find_discrepancies

pytestmark = pytest.mark.django_db

REFUSED = "append-only"


def run(statement: str, *parameters: Any) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, parameters)


@pytest.fixture
def entry(account: Account, owner: User) -> LedgerEntry:
    return account.ledger.get()


def test_ledger_entries_cannot_be_updated_or_deleted(entry: LedgerEntry) -> None:
    for statement in (
        "UPDATE credits_ledgerentry SET amount = 1",
        "UPDATE credits_ledgerentry SET reason = 'Another' WHERE amount > 0",
        "DELETE FROM credits_ledgerentry",
    ):
        with pytest.raises(DatabaseError, match=REFUSED):
            run(statement)
    assert LedgerEntry.objects.get() == entry


def test_ledger_cannot_be_truncated_or_replaced(entry: LedgerEntry) -> None:
    if connection.vendor == "postgresql":
        # PostgreSQL refuses to truncate while checks of foreign keys are pending.
        run("SET CONSTRAINTS ALL IMMEDIATE")
        statement = "TRUNCATE credits_ledgerentry CASCADE"
    else:
        statement = (
            "INSERT OR REPLACE INTO credits_ledgerentry "
            "(id, account_id, at, kind, amount, source, actor, reason) "
            "SELECT id, account_id, at, kind, 101, source, actor, reason FROM credits_ledgerentry"
        )
    with pytest.raises(DatabaseError, match=REFUSED):
        run(statement)
    assert LedgerEntry.objects.get().amount == 100


def test_database_refuses_an_invalid_wallet(account: Account) -> None:
    for change in (
        *({"balance": -1}, {"debt": -1}, {"low_balance_threshold": -1}, {"held": -1}),
        *({"balance": 1, "debt": 1}, {"held": 1, "balance": 0, "debt": 1}),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Wallet.objects.filter(account=account).update(**change)


def test_entry_with_the_wrong_sign_or_kind_or_an_empty_text_is_refused(account: Account) -> None:
    fields = {"kind": "grant", "amount": 1, "source": "x", "actor": "me", "reason": "why"}
    changes: list[dict[str, Any]] = [
        *({"amount": 0}, {"amount": -1}, {"kind": "present"}, {"kind": "refund"}),
        *({"kind": "deduct", "amount": 0}, {"source": ""}, {"actor": ""}, {"reason": ""}),
    ]
    for change in changes:
        with pytest.raises(IntegrityError), transaction.atomic():
            LedgerEntry.objects.create(account=account, **{**fields, **change})


@pytest.mark.parametrize("service", [grant, deduct])
def test_invalid_amount_is_refused_and_posts_nothing(account: Account, service: Any) -> None:
    for amount in (0, -1, 1.5, "5", True, None, 2**63, MAX_CREDITS + 1):
        with pytest.raises(InvalidAmount):
            service(account=account, amount=amount, reason="Odd", actor=None)
    assert account.ledger.count() == 1
    assert Wallet.objects.get(account=account).balance == 100


def test_entry_with_a_known_source_is_not_posted_again(account: Account) -> None:
    entry: Any = {"account": account, "kind": EntryKind.GRANT, "actor": None, "reason": "Once"}
    assert post_entry(**entry, amount=5, source="form:1") is True
    assert post_entry(**entry, amount=7, source="form:1") is False
    assert Wallet.objects.get(account=account).balance == 105


def test_deduction_beyond_the_balance_is_a_debt_that_the_next_grant_pays(
    account: Account, staff: User
) -> None:
    deduct(account=account, amount=130, reason="Granted in error", actor=staff)
    wallet = Wallet.objects.get(account=account)
    assert (wallet.balance, wallet.debt) == (0, 30)
    grant(account=account, amount=20, reason="A part", actor=staff)
    wallet.refresh_from_db()
    assert (wallet.balance, wallet.debt) == (0, 10)
    grant(account=account, amount=25, reason="The rest", actor=staff)
    wallet.refresh_from_db()
    assert (wallet.balance, wallet.debt) == (15, 0)
    assert not list(find_discrepancies())


def test_grants_and_deductions_are_in_the_audit_log_and_keep_a_deleted_actor(
    account: Account, staff: User
) -> None:
    grant(account=account, amount=5_000, reason="Sorry", actor=staff)
    deduct(account=account, amount=10, reason="Too many", actor=staff)
    granted, deducted = account.audit_entries.filter(action__startswith="credits.").order_by("pk")
    assert (granted.actor, granted.target) == (staff, "5,000: Sorry")
    assert (deducted.action, deducted.target) == ("credits.deducted", "10: Too many")
    staff.delete()
    assert account.ledger.get(kind=EntryKind.GRANT).actor == "staff@service.example"


def test_account_with_a_ledger_cannot_be_deleted(account: Account) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        account.delete()


def test_wrong_balance_is_a_discrepancy(account: Account) -> None:
    Wallet.objects.filter(account=account).update(balance=101)
    (line,) = find_discrepancies()
    sums = "balance 101 + held 0 - debt 0 does not equal ledger 100 - usage 0."
    assert line == f"{account.public_id}: {sums}"
