"""What comes together is charged and recorded together, and nobody pays for another's trouble."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.engine import engine
from accounts.models import Account
from accounts.services import open_account
from apikeys.models import ApiKey
from apikeys.services import create_key
from credits.models import UseHour, Wallet
from credits.services import grant
from credits.wallet.books import differences
from credits.wallet.charges import InsufficientCredits
from runtime.models import Mail
from tests.conftest import make_user
from tests.support.fresh_database import at_once
from validation.models import LogEntry
from validation.request_log.writer import Caller
from validation.settlement import Validation, _settle_in_lane, _settle_quietly, charge_and_record

pytestmark = pytest.mark.usefixtures("fresh_database")

NO_ADDRESS, UNKNOWN = "no address", "jane@ordinary-shop.com"


def make_shop(name: str, credits: int, threshold: int = 0) -> ApiKey:
    owner = make_user(f"{name}@shop.example")
    account = open_account(user=owner, name=name)
    if credits:
        grant(account=account, amount=credits, reason="To be used", actor=None)
    Wallet.objects.filter(account=account).update(low_balance_threshold=threshold)
    key, _ = create_key(account=account, name="Server", actor=owner)
    return ApiKey.objects.select_related("account__wallet").get(pk=key.pk)


def ask(key: ApiKey, email: str = NO_ADDRESS, **fields: Any) -> Validation:
    asker = Caller(key.account, key, "req_together")
    return Validation(asker, email, engine().check(email), False, 7, **fields)


def left(key: ApiKey) -> int:
    return Wallet.objects.get(account=key.account_id).balance


def mails() -> list[str]:
    return list(Mail.objects.filter(subject__icontains="credits").values_list("to", flat=True))


def test_each_of_a_batch_is_told_the_balance_after_its_own_charge() -> None:
    one, other = make_shop("one", 10), make_shop("other", 20)
    batch = [ask(one), ask(other), ask(one), ask(one, UNKNOWN), ask(other), ask(one)]
    assert _settle_quietly(batch) == [9, 19, 8, 8, 18, 7]
    assert (left(one), left(other)) == (7, 18)
    assert set(LogEntry.objects.values_list("result_id", flat=True)) == {item.id for item in batch}
    rows = UseHour.objects.values_list(
        "account__name", "verdict", "calls", "credits", "up_to_20_ms"
    )
    assert sorted(rows) == [
        ("one", "undeliverable", 3, 3, 3),
        ("one", "unknown", 1, 0, 1),
        ("other", "undeliverable", 2, 2, 2),
    ]
    assert not list(differences())


def test_who_cannot_pay_for_all_goes_alone_and_gets_what_there_is() -> None:
    rich, poor = make_shop("rich", 10), make_shop("poor", 2)
    batch = [ask(poor), ask(rich), ask(poor), ask(poor)]
    assert _settle_quietly(batch) == [None, 9, None, None]
    answers = _settle_in_lane([one for one in batch if one.asker.key == poor])
    assert [getattr(one, "balance", type(one)) for one in answers] == [1, 0, InsufficientCredits]
    assert LogEntry.objects.count() == 3
    assert not list(differences())


def test_who_is_to_be_told_about_the_balance_is_told_once() -> None:
    key = make_shop("low", 8, threshold=5)
    assert [charge_and_record(ask(key)).balance for _ in range(2)] == [7, 6]
    assert mails() == []
    assert _settle_quietly([ask(key)]) == [None]
    assert [charge_and_record(ask(key)).balance for _ in range(5)] == [5, 4, 3, 2, 1]
    assert mails() == ["low@shop.example"]
    assert charge_and_record(ask(key)).balance == 0
    assert mails() == ["low@shop.example"] * 2


def test_a_batch_that_crosses_the_threshold_and_empties_the_balance_tells_both() -> None:
    key = make_shop("quick", 4, threshold=2)
    answers = _settle_in_lane([ask(key) for _ in range(4)])
    assert [getattr(one, "balance", one) for one in answers] == [3, 2, 1, 0]
    assert mails() == ["quick@shop.example"] * 2


def test_what_the_database_refuses_fails_alone() -> None:
    sound, broken = make_shop("sound", 10), make_shop("broken", 10)
    nameless: Any = {"id": None}
    batch = [ask(sound), ask(broken, **nameless), ask(broken)]
    assert _settle_quietly(batch) == [None, None, None]
    answers = _settle_in_lane(batch)
    assert [getattr(one, "balance", "refused") for one in answers] == [9, "refused", 9]
    assert LogEntry.objects.count() == 2
    assert not list(differences())


def test_an_account_that_is_gone_fails_alone() -> None:
    sound, gone = make_shop("sound", 10), make_shop("gone", 10)
    gone.account = Account(pk=10_000_000, name="gone")
    gone.account.wallet = Wallet(account=gone.account, balance=10)
    assert _settle_quietly([ask(sound), ask(gone)]) == [9, None]


@contextmanager
def wallet_held_by_somebody(key: ApiKey) -> Iterator[None]:
    with transaction.atomic():
        Wallet.objects.select_for_update().get(account=key.account_id)
        yield


def test_a_wallet_that_somebody_else_changes_holds_up_nobody() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time.")
    busy, free = make_shop("busy", 10), make_shop("free", 10)
    with wallet_held_by_somebody(busy):
        (balances,) = at_once(1, lambda _: _settle_quietly([ask(busy), ask(free)]))
    assert balances == [None, 9]
    assert charge_and_record(ask(busy)).balance == 9


def test_many_callers_of_several_accounts_at_once_leave_the_books_true() -> None:
    keys = [make_shop(f"shop-{number}", 100, threshold=90) for number in range(4)]

    def call(number: int) -> list[int]:
        return [charge_and_record(ask(keys[(number + turn) % 4])).balance for turn in range(12)]

    balances = at_once(8, call)
    assert all(isinstance(one, list) for one in balances), balances
    assert [left(key) for key in keys] == [76] * 4
    assert LogEntry.objects.count() == UseHour.objects.all().credits() == 96
    assert len(mails()) == 4
    assert not list(differences())
