"""Erasure of one address from the request log and the stored replays."""

import pytest

from accounts.models import Account, AuditEntry, User
from credits.models import UseHour
from runtime.database import batches
from tests.support.api_client import ApiClient
from validation.erasure import erase_address
from validation.models import LogEntry, Replay

pytestmark = pytest.mark.django_db

ADDRESS = "Jane.Doe@sandbox.test"


@pytest.fixture
def other_account(stranger: User, other_caller: ApiClient) -> Account:
    """Return another customer that validated the same address."""
    other_caller.validate(ADDRESS, Idempotency_Key="order-1")
    return stranger.memberships.get().account


def erase(account: Account | None, actor: User, email: str = ADDRESS) -> int:
    return erase_address(email=email, account=account, actor=actor)


def test_every_spelling_of_an_address_is_erased_and_no_other_address(
    caller: ApiClient, account: Account, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "BATCH_SIZE", 2)
    for number, email in enumerate((ADDRESS, ADDRESS.lower(), f" {ADDRESS}", "no address")):
        caller.validate(email, Idempotency_Key=f"order-{number}")
    assert erase(account, owner, "jane.doe@SANDBOX.test") == 6
    assert LogEntry.objects.get().address == "n***"
    assert Replay.objects.count() == 1


def test_erased_idempotency_key_is_free(caller: ApiClient, account: Account, owner: User) -> None:
    first = caller.validate("no address", Idempotency_Key="order-1")
    erase(account, owner, "no address")
    again = caller.validate("no address", Idempotency_Key="order-1")
    assert again.json()["id"] != first.json()["id"]
    assert again.headers["X-Credits-Cost"] == "1"


def test_erasing_for_one_account_keeps_the_rows_of_others(
    caller: ApiClient, account: Account, owner: User, other_account: Account
) -> None:
    caller.validate(ADDRESS)
    assert erase(account, owner) == 1
    assert LogEntry.objects.get().account == other_account
    assert Replay.objects.get().account == other_account


def test_staff_erase_an_address_from_all_accounts(
    caller: ApiClient, staff: User, other_account: Account
) -> None:
    caller.validate(ADDRESS)
    assert erase(None, staff) == 3
    assert not LogEntry.objects.exists()
    assert not Replay.objects.exists()


def test_audit_log_has_the_address_masked(caller: ApiClient, account: Account, owner: User) -> None:
    caller.validate(ADDRESS)
    erase(account, owner)
    entry = AuditEntry.objects.get(action="address.erased")
    assert (entry.account, entry.actor) == (account, owner)
    assert entry.target == "J***@sandbox.test"


def test_erasure_keeps_usage_and_balance(caller: ApiClient, account: Account, owner: User) -> None:
    caller.validate("no address")
    erase(account, owner, "no address")
    assert UseHour.objects.get(account=account).calls == 1
    account.wallet.refresh_from_db()
    assert account.wallet.balance == 99
