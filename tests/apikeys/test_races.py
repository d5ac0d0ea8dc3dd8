"""Concurrent calls, each with its own connection."""

import pytest
from django.db import OperationalError, connection

from accounts.models import Account
from accounts.services import open_account
from apikeys.models import MAX_ACTIVE_KEYS, RefusalHour, TooManyKeys
from apikeys.models.refusals import count_refusal, refusals
from apikeys.services import create_key
from tests.conftest import make_user
from tests.support.fresh_database import run_concurrently

pytestmark = pytest.mark.usefixtures("fresh_database")


def test_concurrent_calls_do_not_create_a_21st_key() -> None:
    owner = make_user("owner@shop.example")
    account = open_account(user=owner)
    for number in range(MAX_ACTIVE_KEYS - 1):
        create_key(account=account, name=f"Key {number}", actor=owner)

    def create(number: int) -> object:
        return create_key(account=account, name="Race", actor=owner)

    results = run_concurrently(4, create)
    assert len([result for result in results if isinstance(result, TooManyKeys)]) == 3
    assert account.api_keys.active().count() == MAX_ACTIVE_KEYS


def stored_counts() -> list[tuple[str, int]]:
    return list(RefusalHour.objects.order_by("code").values_list("code", "calls"))


def test_concurrent_writes_lose_no_count() -> None:
    account = Account.objects.create(name="The Shop")

    def count_and_write(number: int) -> None:
        for _ in range(10):
            count_refusal(account.pk, None, "not_found")
            refusals.flush()

    run_concurrently(4, count_and_write)
    assert stored_counts() == [("not_found", 40)]


def test_counts_of_a_deleted_account_are_dropped_and_others_written() -> None:
    existing, deleted = (Account.objects.create(name=name) for name in ("Existing", "Deleted"))
    for account in (deleted, existing):
        count_refusal(account.pk, None, "not_found")
    deleted.delete()
    refusals.flush()
    assert stored_counts() == [("not_found", 1)]


def test_counts_are_retained_while_the_database_is_unavailable() -> None:
    account = Account.objects.create(name="The Shop")
    for code in ("not_found", "not_found", "missing_field"):
        count_refusal(account.pk, None, code)

    def fail(*_: object) -> None:
        raise OperationalError("unavailable")

    with connection.execute_wrapper(fail):
        refusals.flush()
    refusals.flush()
    assert stored_counts() == [("missing_field", 1), ("not_found", 2)]
