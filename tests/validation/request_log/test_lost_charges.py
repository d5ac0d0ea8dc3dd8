"""A charge whose response was lost is refunded once, and the books agree."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from credits.models import LedgerEntry, UseHour, Wallet
from credits.wallet.books import differences
from credits.wallet.statement import words_of
from credits.wallet.totals import sum_up_days
from runtime.database.coalescing import Coalescer
from runtime.database.raw_sql import OutcomeUnknown, atomic
from tests.credits.days import on
from tests.validation.test_settlement import ask, left, make_shop
from validation import settlement
from validation.lost_charges import SURE_AFTER, lost, remember, settle_lost_charges
from validation.models import LogEntry, LostCharge
from validation.settlement import Validation, charge_and_record

pytestmark = pytest.mark.usefixtures("fresh_database")


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Any:
    lost.forget()
    yield
    lost.forget()


def settled(key: ApiKey, **fields: Any) -> Validation:
    validation = ask(key, **fields)
    charge_and_record(validation)
    return validation


def lose(validation: Validation) -> None:
    remember(validation.asker.account, validation.id, validation.cost)
    lost.write()


def test_a_lost_charge_is_refunded_in_both_books() -> None:
    key = make_shop("shop", 10)
    other, validation = settled(key), settled(key)
    assert left(key) == 8
    lose(validation)
    assert left(key) == 9
    assert list(UseHour.objects.values_list("calls", "credits")) == [(2, 1)]
    costs = dict(LogEntry.objects.values_list("result_id", "cost"))
    assert costs == {other.id: 1, validation.id: 0}
    assert not LostCharge.objects.exists()
    assert not list(differences())


def test_a_lost_charge_is_refunded_once() -> None:
    key = make_shop("shop", 10)
    validation = settled(key)
    for _ in range(3):
        lose(validation)
        settle_lost_charges()
    assert left(key) == 10
    assert not list(differences())


def test_a_refund_pays_a_debt_first() -> None:
    key = make_shop("shop", 10)
    validation = settled(key)
    Wallet.objects.take(key.account, 12)
    LedgerEntry.objects.create(
        account=key.account, kind="take_back", amount=-12, source="all", actor="a", reason="b"
    )
    lose(validation)
    wallet = Wallet.objects.get(account=key.account)
    assert (wallet.balance, wallet.debt) == (0, 2)
    assert not list(differences())


def test_a_charge_that_is_stored_after_the_first_look_is_refunded_by_the_daily_job() -> None:
    key = make_shop("shop", 10)
    validation = ask(key)
    lose(validation)
    assert (left(key), LostCharge.objects.count()) == (10, 1)
    charge_and_record(validation)
    settle_lost_charges()
    assert (left(key), LostCharge.objects.count()) == (10, 0)
    assert not list(differences())


def test_a_day_that_was_summed_up_in_between_stays_right() -> None:
    key = make_shop("shop", 10)
    with on("2026-11-19"):
        validation = settled(key)
        settled(key)
    with on("2026-11-20"):
        sum_up_days()
        lose(validation)
        sum_up_days()
    assert left(key) == 9
    assert not list(differences())


def test_what_was_never_stored_is_looked_for_until_no_packet_can_arrive() -> None:
    key = make_shop("shop", 10)
    lose(ask(key))
    settle_lost_charges()
    assert LostCharge.objects.count() == 1
    LostCharge.objects.update(created_at=timezone.now() - SURE_AFTER)
    settle_lost_charges()
    assert LostCharge.objects.count() == 0
    assert left(key) == 10


def test_an_account_without_a_request_log_gets_the_benefit_of_the_doubt_once() -> None:
    key = make_shop("shop", 10)
    Account.objects.update(log_days=0)
    key = ApiKey.objects.select_related("account__wallet").get(pk=key.pk)
    validation = settled(key)
    for _ in range(2):
        lose(validation)
    assert left(key) == 10
    entry = LedgerEntry.objects.get(amount=1)
    assert (entry.kind, entry.actor) == ("grant", "system")
    assert words_of(entry) == "Credit for a request whose response was lost in an outage"
    assert not list(differences())


def test_another_accounts_result_is_not_refunded() -> None:
    one, other = make_shop("one", 10), make_shop("other", 10)
    validation = settled(one)
    remember(other.account, validation.id, validation.cost)
    lost.write()
    assert (left(one), left(other)) == (9, 10)


class Ended(BaseException):
    """As a greenlet is ended."""


class EndedAfterStoring:
    """Settles each group. The first takes until it is let go; the worker of the second ends."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.may_end = threading.Event()

    def __call__(self, validations: list[Validation]) -> list[int | None]:
        self.groups.append(len(validations))
        balances = settlement._settle_quietly(validations)
        if len(self.groups) > 1:
            raise Ended
        assert self.may_end.wait(10)
        return balances


def test_a_group_whose_worker_is_ended_leaves_its_members_in_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = make_shop("shop", 10)
    work = EndedAfterStoring()
    together = Coalescer(work)
    monkeypatch.setattr(settlement, "_with_others", together)
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(settle_and_close, ask(key))]
        wait_until(lambda: work.groups == [1])
        futures.append(pool.submit(settle_and_close, ask(key)))
        wait_until(lambda: len(together._waiting) == 1)
        futures.append(pool.submit(settle_and_close, ask(key)))
        wait_until(lambda: len(together._waiting) == 2)
        work.may_end.set()
        errors = [type(future.exception(10)) for future in futures]
    assert errors == [type(None), Ended, OutcomeUnknown]
    assert left(key) == 7
    lost.write()
    assert left(key) == 8
    assert not list(differences())


def settle_and_close(validation: Validation) -> None:
    try:
        charge_and_record(validation)
    finally:
        connection.close()


def wait_until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.005)


@pytest.fixture
def administrator() -> Iterator[Any]:
    """Another connection to the database of this test."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is in this process: a connection to it is never lost.")
    where = connection.get_connection_params()
    known = {name: where[name] for name in ("host", "port", "user", "dbname") if name in where}
    with psycopg.connect(**known, autocommit=True) as other:
        yield other


def kill_own_connection(administrator: Any) -> None:
    pid = connection.connection.info.backend_pid
    administrator.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_a_connection_lost_before_commit_leaves_the_outcome_open(administrator: Any) -> None:
    key = make_shop("shop", 10)
    with pytest.raises(OutcomeUnknown), atomic():
        Wallet.objects.filter(account=key.account_id).update(balance=5)
        kill_own_connection(administrator)
    connection.close()
    assert left(key) == 10


def test_a_connection_lost_before_the_last_statement_certainly_stores_nothing(
    administrator: Any,
) -> None:
    key = make_shop("shop", 10)
    with pytest.raises(OperationalError) as raised, atomic():
        kill_own_connection(administrator)
        Wallet.objects.filter(account=key.account_id).update(balance=5)
    assert not isinstance(raised.value, OutcomeUnknown)
    connection.close()


@pytest.mark.parametrize("idempotency_key", [None, "one-request"])
def test_an_error_that_the_server_reports_certainly_charges_nothing(
    administrator: Any, idempotency_key: str | None
) -> None:
    key = make_shop("shop", 10)
    connection.cursor().execute("SET lock_timeout = 50")
    with administrator.transaction():
        administrator.execute("LOCK TABLE validation_logentry IN SHARE MODE")
        with pytest.raises(OperationalError) as raised:
            charge_and_record(ask(key, idempotency_key=idempotency_key))
    assert not isinstance(raised.value, OutcomeUnknown)
    assert left(key) == 10
