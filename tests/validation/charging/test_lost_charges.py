"""A charge whose response was lost is refunded once, and the books agree."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from credits.models import LedgerEntry, UseHour, Wallet
from credits.wallet.books import find_discrepancies
from credits.wallet.statement import describe_entry
from credits.wallet.totals import roll_up_days
from runtime.database.coalescing import Coalescer
from runtime.database.raw_sql import OutcomeUnknown, atomic
from tests.credits.time_travel import on
from tests.support.waiting import wait_until
from tests.validation.charging.test_settlement import get_balance, make_shop_key, make_validation
from validation.charging import settlement
from validation.charging.lost_charges import (
    MAX_COMMIT_DELAY,
    buffer,
    record_lost_charge,
    settle_lost_charges,
)
from validation.charging.settlement import charge_and_record
from validation.models import LogEntry, LostCharge
from validation.validations import Validation

pytestmark = pytest.mark.usefixtures("fresh_database")


@pytest.fixture(autouse=True)
def _empty_buffer() -> Any:
    buffer.discard()
    yield
    buffer.discard()


def charge_validation(key: ApiKey, **fields: Any) -> Validation:
    validation = make_validation(key, **fields)
    charge_and_record(validation)
    return validation


def lose_response(validation: Validation) -> None:
    record_lost_charge(validation.caller.account, validation.id, validation.cost)
    buffer.flush()


def test_lost_charge_is_refunded_in_both_books() -> None:
    key = make_shop_key("shop", 10)
    other, validation = charge_validation(key), charge_validation(key)
    assert get_balance(key) == 8
    lose_response(validation)
    assert get_balance(key) == 9
    assert list(UseHour.objects.values_list("calls", "credits")) == [(2, 1)]
    costs = dict(LogEntry.objects.values_list("result_id", "cost"))
    assert costs == {other.id: 1, validation.id: 0}
    assert not LostCharge.objects.exists()
    assert not list(find_discrepancies())


def test_lost_charge_is_refunded_once() -> None:
    key = make_shop_key("shop", 10)
    validation = charge_validation(key)
    for _ in range(3):
        lose_response(validation)
        settle_lost_charges()
    assert get_balance(key) == 10
    assert not list(find_discrepancies())


def test_refund_pays_a_debt_first() -> None:
    key = make_shop_key("shop", 10)
    validation = charge_validation(key)
    with transaction.atomic():
        Wallet.objects.deduct(key.account, 12)
    LedgerEntry.objects.create(
        account=key.account, kind="deduct", amount=-12, source="all", actor="a", reason="b"
    )
    lose_response(validation)
    wallet = Wallet.objects.get(account=key.account)
    assert (wallet.balance, wallet.debt) == (0, 2)
    assert not list(find_discrepancies())


def test_charge_that_is_stored_after_the_first_check_is_refunded_by_the_daily_job() -> None:
    key = make_shop_key("shop", 10)
    validation = make_validation(key)
    lose_response(validation)
    assert (get_balance(key), LostCharge.objects.count()) == (10, 1)
    charge_and_record(validation)
    settle_lost_charges()
    assert (get_balance(key), LostCharge.objects.count()) == (10, 0)
    assert not list(find_discrepancies())


def test_refund_corrects_a_day_that_was_already_rolled_up() -> None:
    key = make_shop_key("shop", 10)
    with on("2026-11-19"):
        validation = charge_validation(key)
        charge_validation(key)
    with on("2026-11-20"):
        roll_up_days()
        lose_response(validation)
        roll_up_days()
    assert get_balance(key) == 9
    assert not list(find_discrepancies())


def test_charge_that_was_never_stored_is_checked_until_no_commit_can_arrive() -> None:
    key = make_shop_key("shop", 10)
    lose_response(make_validation(key))
    settle_lost_charges()
    assert LostCharge.objects.count() == 1
    LostCharge.objects.update(created_at=timezone.now() - MAX_COMMIT_DELAY)
    settle_lost_charges()
    assert LostCharge.objects.count() == 0
    assert get_balance(key) == 10


def test_account_without_a_request_log_gets_the_benefit_of_the_doubt_once() -> None:
    key = make_shop_key("shop", 10)
    Account.objects.update(log_days=0)
    key = ApiKey.objects.select_related("account__wallet").get(pk=key.pk)
    validation = charge_validation(key)
    for _ in range(2):
        lose_response(validation)
    assert get_balance(key) == 10
    entry = LedgerEntry.objects.get(amount=1)
    assert (entry.kind, entry.actor) == ("grant", "system")
    assert describe_entry(entry) == "Credit for a request whose response was lost in an outage"
    assert not list(find_discrepancies())


def test_another_accounts_result_is_not_refunded() -> None:
    one, other = make_shop_key("one", 10), make_shop_key("other", 10)
    validation = charge_validation(one)
    record_lost_charge(other.account, validation.id, validation.cost)
    buffer.flush()
    assert (get_balance(one), get_balance(other)) == (9, 10)


class Killed(BaseException):
    """Ends the thread that works on a group, as killing its greenlet does."""


class KilledAfterCommit:
    """Charges each group. The first waits for `may_end`; the thread of the second is killed."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.may_end = threading.Event()

    def __call__(self, validations: list[Validation]) -> list[int | None]:
        self.groups.append(len(validations))
        balances = settlement._charge_group(validations)
        if len(self.groups) > 1:
            raise Killed
        assert self.may_end.wait(10)
        return balances


def test_group_whose_thread_is_killed_is_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_shop_key("shop", 10)
    work = KilledAfterCommit()
    coalescer = Coalescer(work)
    monkeypatch.setattr(settlement, "_coalescer", coalescer)
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(charge_and_close, make_validation(key))]
        wait_until(lambda: work.groups == [1])
        futures.append(pool.submit(charge_and_close, make_validation(key)))
        wait_until(lambda: len(coalescer._waiting) == 1)
        futures.append(pool.submit(charge_and_close, make_validation(key)))
        wait_until(lambda: len(coalescer._waiting) == 2)
        work.may_end.set()
        errors = [type(future.exception(10)) for future in futures]
    assert errors == [type(None), Killed, OutcomeUnknown]
    assert get_balance(key) == 7
    buffer.flush()
    assert get_balance(key) == 8
    assert not list(find_discrepancies())


def charge_and_close(validation: Validation) -> None:
    try:
        charge_and_record(validation)
    finally:
        connection.close()


@pytest.fixture
def admin_connection() -> Iterator[Any]:
    """Open another connection to this test's database."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is in this process: a connection to it is never lost.")
    params = connection.get_connection_params()
    names = ("host", "port", "user", "dbname")
    shared = {name: params[name] for name in names if name in params}
    with psycopg.connect(**shared, autocommit=True) as other:
        yield other


def kill_own_connection(admin_connection: Any) -> None:
    pid = connection.connection.info.backend_pid
    admin_connection.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_connection_lost_before_commit_leaves_the_outcome_unknown(admin_connection: Any) -> None:
    key = make_shop_key("shop", 10)
    with pytest.raises(OutcomeUnknown), atomic():
        Wallet.objects.filter(account=key.account_id).update(balance=5)
        kill_own_connection(admin_connection)
    connection.close()
    assert get_balance(key) == 10


def test_connection_lost_before_the_last_statement_stores_nothing(admin_connection: Any) -> None:
    key = make_shop_key("shop", 10)
    with pytest.raises(OperationalError) as raised, atomic():
        kill_own_connection(admin_connection)
        Wallet.objects.filter(account=key.account_id).update(balance=5)
    assert not isinstance(raised.value, OutcomeUnknown)
    connection.close()


@pytest.mark.parametrize("idempotency_key", [None, "one-request"])
def test_error_that_the_server_reports_certainly_charges_nothing(
    admin_connection: Any, idempotency_key: str | None
) -> None:
    key = make_shop_key("shop", 10)
    connection.cursor().execute("SET lock_timeout = 50")
    with admin_connection.transaction():
        admin_connection.execute("LOCK TABLE validation_logentry IN SHARE MODE")
        with pytest.raises(OperationalError) as raised:
            charge_and_record(make_validation(key, idempotency_key=idempotency_key))
    assert not isinstance(raised.value, OutcomeUnknown)
    assert get_balance(key) == 10
