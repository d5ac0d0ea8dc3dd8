"""Validations that share a transaction, and those that need their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.engine import get_engine
from accounts.models import Account
from accounts.services import open_account
from apikeys.models import ApiKey
from apikeys.services import create_key
from credits.models import UseHour, Wallet
from credits.services import grant
from credits.wallet.books import find_discrepancies
from credits.wallet.charges import InsufficientCredits
from runtime.models import Mail
from tests.conftest import make_user
from tests.support.fresh_database import run_concurrently
from validation.charging.settlement import _charge_group, _process_account_queue, charge_and_record
from validation.models import LogEntry
from validation.validations import Caller, Validation

pytestmark = pytest.mark.usefixtures("fresh_database")

NO_ADDRESS, UNKNOWN = "no address", "jane@ordinary-shop.com"


def make_shop_key(name: str, credits: int, threshold: int = 0) -> ApiKey:
    owner = make_user(f"{name}@shop.example")
    account = open_account(user=owner, name=name)
    if credits:
        grant(account=account, amount=credits, reason="To be used", actor=None)
    Wallet.objects.filter(account=account).update(low_balance_threshold=threshold)
    key, _ = create_key(account=account, name="Server", actor=owner)
    return ApiKey.objects.select_related("account__wallet").get(pk=key.pk)


def make_validation(key: ApiKey, email: str = NO_ADDRESS, **fields: Any) -> Validation:
    caller = Caller(key.account, key, "req_grouped")
    return Validation(caller, email, get_engine().check(email), False, 7, **fields)


def get_balance(key: ApiKey) -> int:
    return Wallet.objects.get(account=key.account_id).balance


def balance_emails() -> list[str]:
    return list(Mail.objects.filter(subject__icontains="credits").values_list("to", flat=True))


def test_each_validation_of_a_group_gets_the_balance_after_its_own_charge() -> None:
    one, other = make_shop_key("one", 10), make_shop_key("other", 20)
    group = [
        make_validation(one),
        make_validation(other),
        make_validation(one),
        make_validation(one, UNKNOWN),
        make_validation(other),
        make_validation(one),
    ]
    assert _charge_group(group) == [9, 19, 8, 8, 18, 7]
    assert (get_balance(one), get_balance(other)) == (7, 18)
    logged_ids = LogEntry.objects.values_list("result_id", flat=True)
    assert set(logged_ids) == {validation.id for validation in group}
    rows = UseHour.objects.values_list(
        "account__name", "verdict", "calls", "credits", "up_to_20_ms"
    )
    assert sorted(rows) == [
        ("one", "undeliverable", 3, 3, 3),
        ("one", "unknown", 1, 0, 1),
        ("other", "undeliverable", 2, 2, 2),
    ]
    assert not list(find_discrepancies())


def test_account_that_cannot_pay_for_all_is_charged_one_by_one() -> None:
    rich, poor = make_shop_key("rich", 10), make_shop_key("poor", 2)
    group = [
        make_validation(poor),
        make_validation(rich),
        make_validation(poor),
        make_validation(poor),
    ]
    assert _charge_group(group) == [None, 9, None, None]
    queue = [validation for validation in group if validation.caller.key == poor]
    outcomes = _process_account_queue(queue)
    balances = [getattr(outcome, "balance", type(outcome)) for outcome in outcomes]
    assert balances == [1, 0, InsufficientCredits]
    assert LogEntry.objects.count() == 3
    assert not list(find_discrepancies())


def test_each_balance_email_is_sent_once() -> None:
    key = make_shop_key("low", 8, threshold=5)
    assert [charge_and_record(make_validation(key)).balance for _ in range(2)] == [7, 6]
    assert balance_emails() == []
    assert _charge_group([make_validation(key)]) == [None]
    assert [charge_and_record(make_validation(key)).balance for _ in range(5)] == [5, 4, 3, 2, 1]
    assert balance_emails() == ["low@shop.example"]
    assert charge_and_record(make_validation(key)).balance == 0
    assert balance_emails() == ["low@shop.example"] * 2


def test_group_that_crosses_the_threshold_and_empties_the_balance_sends_both_emails() -> None:
    key = make_shop_key("quick", 4, threshold=2)
    outcomes = _process_account_queue([make_validation(key) for _ in range(4)])
    assert [getattr(outcome, "balance", outcome) for outcome in outcomes] == [3, 2, 1, 0]
    assert balance_emails() == ["quick@shop.example"] * 2


def test_row_that_the_database_rejects_fails_alone() -> None:
    valid, broken = make_shop_key("valid", 10), make_shop_key("broken", 10)
    without_id: Any = {"id": None}
    group = [make_validation(valid), make_validation(broken, **without_id), make_validation(broken)]
    assert _charge_group(group) == [None, None, None]
    outcomes = _process_account_queue(group)
    assert [getattr(outcome, "balance", "refused") for outcome in outcomes] == [9, "refused", 9]
    assert LogEntry.objects.count() == 2
    assert not list(find_discrepancies())


def test_deleted_account_fails_alone() -> None:
    valid, deleted = make_shop_key("valid", 10), make_shop_key("deleted", 10)
    deleted.account = Account(pk=10_000_000, name="deleted")
    deleted.account.wallet = Wallet(account=deleted.account, balance=10)
    assert _charge_group([make_validation(valid), make_validation(deleted)]) == [9, None]


@contextmanager
def locked_wallet(key: ApiKey) -> Iterator[None]:
    with transaction.atomic():
        Wallet.objects.select_for_update().get(account=key.account_id)
        yield


def test_locked_wallet_does_not_delay_other_accounts() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time.")
    busy, free = make_shop_key("busy", 10), make_shop_key("free", 10)
    with locked_wallet(busy):
        (balances,) = run_concurrently(
            1, lambda _: _charge_group([make_validation(busy), make_validation(free)])
        )
    assert balances == [None, 9]
    assert charge_and_record(make_validation(busy)).balance == 9


def test_concurrent_requests_of_several_accounts_keep_the_books_consistent() -> None:
    keys = [make_shop_key(f"shop-{number}", 100, threshold=90) for number in range(4)]

    def call(number: int) -> list[int]:
        return [
            charge_and_record(make_validation(keys[(number + call_number) % 4])).balance
            for call_number in range(12)
        ]

    balances = run_concurrently(8, call)
    assert all(isinstance(result, list) for result in balances), balances
    assert [get_balance(key) for key in keys] == [76] * 4
    assert LogEntry.objects.count() == UseHour.objects.all().credits() == 96
    assert len(balance_emails()) == 4
    assert not list(find_discrepancies())
