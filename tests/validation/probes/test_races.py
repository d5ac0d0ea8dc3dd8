"""Checks that begin, wait and end at the same time are charged once, and the books agree."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account, Event, User
from accounts.services import open_account
from apikeys.services import create_key
from credits.models import Hold, Wallet
from credits.models.usage import UseHour
from credits.services import deduct, grant
from credits.wallet.books import find_discrepancies
from tests.conftest import make_user
from tests.support.api_client import ApiClient
from tests.support.fresh_database import run_concurrently
from tests.support.waiting import wait_until
from tests.validation.probes.conftest import MailServers, run_queue
from tests.validation.probes.test_api import balance
from validation.charging import lost_charges
from validation.models import LogEntry, LostCharge, MailboxCheckDay, Probe, Replay, StoredResult
from validation.probes import waiting
from validation.probes.asking import converse, prepare
from validation.probes.settlement import finish

pytestmark = pytest.mark.usefixtures("fresh_database", "mail")
EMAIL, CALLERS = "jane@shop.com", 6


@pytest.fixture
def shop(fresh_database: None) -> Account:
    account = open_account(user=make_user("buyer@shop.example"), name="The Shop")
    grant(account=account, amount=100, reason="Checks", actor=None)
    return account


@pytest.fixture
def secret(shop: Account) -> str:
    return create_key(account=shop, name="Server", actor=User.objects.get())[1]


def check(secret: str, email: str = EMAIL, *, key: str = "", timeout_s: int = 1) -> Any:
    body = json.dumps({"email": email, "check": "mailbox", "timeout_s": timeout_s})
    headers = {"Idempotency-Key": key} if key else {}
    return ApiClient(secret).send(body.encode(), **headers)


def answer_while(calls: int, call: Callable[[int], Any], probes: int) -> list[Any]:
    """Run concurrent calls, and answer their checks as soon as all have begun."""
    responses: list[Any] = []
    thread = threading.Thread(target=lambda: responses.extend(run_concurrently(calls, call)))
    thread.start()
    wait_until(lambda: Probe.objects.count() == probes or not thread.is_alive())
    while thread.is_alive():
        run_queue()
        time.sleep(0.01)
    thread.join()
    return responses


@pytest.mark.usefixtures("pending_from_the_start")
def test_concurrent_calls_with_one_key_start_one_check_that_the_balance_covers(
    shop: Account, secret: str
) -> None:
    deduct(account=shop, amount=98, reason="All but one check", actor=None)
    responses = run_concurrently(CALLERS, lambda _: check(secret, key="k"))
    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["id"] for response in responses}) == 1
    assert {response.json()["smtp"]["state"] for response in responses} == {"pending"}
    replayed = [response for response in responses if "Idempotent-Replayed" in response.headers]
    assert len(replayed) == CALLERS - 1
    assert (Probe.objects.count(), Hold.objects.count(), Replay.objects.count()) == (1, 1, 1)
    assert StoredResult.objects.count() == 1
    assert balance(shop) == (0, 2)
    run_queue()
    assert balance(shop) == (0, 0)
    assert not list(find_discrepancies())


def test_waiting_calls_return_the_final_result(shop: Account, secret: str) -> None:
    emails = ["jane@shop.com", "unknown@shop.com", "jane@grey.com", "jane@catchall.com"]
    responses = answer_while(
        len(emails), lambda number: check(secret, emails[number], timeout_s=30), len(emails)
    )
    found = [
        (response.json()["reason"], response.headers["X-Credits-Cost"]) for response in responses
    ]
    assert found == [
        ("mailbox_accepted", "2"),
        ("mailbox_not_found", "2"),
        # It won't be asked again in time, so the call doesn't wait for it.
        ("greylisted", "0"),
        ("accept_all", "1"),
    ]
    for response in responses:
        read = ApiClient(secret).get(f"/v1/validations/{response.json()['id']}").json()
        read["credits"]["remaining"] = response.json()["credits"]["remaining"]
        assert read == response.json()
    probe = Probe.objects.waiting().get()
    assert (probe.domain, probe.is_announced) == ("grey.com", True)
    # The others were never pending in a response.
    assert Probe.objects.filter(is_announced=True).count() == 1
    assert not Event.objects.filter(type="check.completed").exists()
    assert balance(shop) == (93, 2)
    assert not waiting._waiting
    assert not list(find_discrepancies())


def test_final_response_of_a_waiting_call_is_replayed_exactly(shop: Account, secret: str) -> None:
    (first,) = answer_while(1, lambda _: check(secret, key="k", timeout_s=30), 1)
    assert first.json()["credits"] == {"charged": 2, "held": 0, "remaining": 98}
    grant(account=shop, amount=50, reason="More", actor=None)
    again = check(secret, key="k")
    assert again.content == first.content
    assert again.headers["X-Credits-Cost"] == "0"


@pytest.mark.usefixtures("pending_from_the_start")
def test_check_that_several_processes_finish_is_charged_once(shop: Account, secret: str) -> None:
    check(secret)
    probe = Probe.objects.get()
    finding = converse(prepare(probe)).finding
    outcomes = run_concurrently(CALLERS, lambda _: finish(probe=probe, finding=finding))
    assert Counter(outcomes) == {True: 1, False: CALLERS - 1}
    assert balance(shop) == (98, 0)
    assert Event.objects.filter(type="check.completed").count() == 1
    (hour,) = UseHour.objects.all()
    assert (hour.credits, hour.verdict) == (2, "deliverable")
    assert not list(find_discrepancies())


@pytest.mark.usefixtures("pending_from_the_start")
def test_deduction_during_the_end_of_a_check_leaves_the_books_in_agreement(
    shop: Account, secret: str
) -> None:
    deduct(account=shop, amount=100, reason="Correction", actor=None)
    for amount in (1, 2, 3):
        wallet = Wallet.objects.get(account=shop)
        missing = 2 + wallet.debt - wallet.balance
        grant(account=shop, amount=missing, reason="One check", actor=None)
        check(secret, f"name{amount}@catchall.com", timeout_s=1)
        probe = Probe.objects.waiting().get()
        finding = converse(prepare(probe)).finding

        def act(number: int, amount: int = amount, probe: Probe = probe) -> object:
            if number:
                return deduct(account=shop, amount=amount, reason="Correction", actor=None)
            return finish(probe=probe, finding=finding)  # noqa: B023 - called in this iteration

        finished, _ = run_concurrently(2, act)
        assert finished is True
        assert not Hold.objects.open().exists()
        assert Wallet.objects.get(account=shop).held == 0
        assert not list(find_discrepancies())


def test_account_that_stores_nothing_gets_a_final_result_whatever_comes_first(
    shop: Account, secret: str
) -> None:
    Account.objects.update(log_days=0)
    responses = answer_while(
        CALLERS, lambda number: check(secret, f"name{number}@catchall.com"), CALLERS
    )
    charged = 0
    for response in responses:
        result = response.json()
        assert result["smtp"]["state"] == "done"
        assert (result["reason"], result["credits"]["charged"]) in (
            ("accept_all", 1),
            ("smtp_timeout", 0),
        )
        charged += result["credits"]["charged"]
    assert balance(shop) == (100 - charged, 0)
    assert not Probe.objects.waiting().exists()
    assert not StoredResult.objects.exists()
    assert not LogEntry.objects.exists()
    assert not Event.objects.filter(type="check.completed").exists()
    assert not list(find_discrepancies())


def test_check_of_a_caller_that_stores_nothing_ends_even_if_its_process_dies(
    shop: Account, secret: str, mail: MailServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    Account.objects.update(log_days=0)

    def die(execute: Any, statement: str, *arguments: Any) -> Any:
        if '"next_attempt_at" <' in statement:
            raise OperationalError("The process died.")
        return execute(statement, *arguments)

    with connection.execute_wrapper(die):
        assert check(secret).status_code == 503
    probe = Probe.objects.get()
    assert probe.done_at is None
    assert probe.ends_at is not None
    assert (probe.ends_at - probe.created_at).total_seconds() == 1
    Probe.objects.update(ends_at=timezone.now())
    run_queue()
    assert balance(shop) == (100, 0)
    assert mail.server.verbs["RCPT"] == 0
    assert not list(find_discrepancies())


def test_call_that_loses_the_database_while_it_waits_returns_the_pending_result(
    shop: Account, secret: str
) -> None:

    def fail(execute: Any, statement: str, *arguments: Any) -> Any:
        if '"next_attempt_at" <' in statement:
            raise OperationalError("The database went away.")
        return execute(statement, *arguments)

    with connection.execute_wrapper(fail):
        pending = check(secret)
    assert pending.status_code == 200
    assert pending.json()["smtp"]["state"] == "pending"
    assert pending.json()["credits"] == {"charged": 0, "held": 2, "remaining": 98}
    read = ApiClient(secret).get(f"/v1/validations/{pending.json()['id']}")
    assert read.json() == pending.json()
    run_queue()
    assert balance(shop) == (98, 0)
    assert Event.objects.filter(type="check.completed").count() == 1


@pytest.mark.parametrize("key", ["", "k"])
def test_check_whose_commit_was_lost_costs_nothing_unless_its_key_finds_it(
    shop: Account, secret: str, key: str
) -> None:
    lost_charges.buffer.discard()

    def lose_commit() -> None:
        raise OperationalError("The connection was lost.") from psycopg.OperationalError()

    def lose(execute: Any, statement: str, *arguments: Any) -> Any:
        if 'INSERT INTO "validation_probe"' in statement:
            transaction.on_commit(lose_commit)
        return execute(statement, *arguments)

    with connection.execute_wrapper(lose):
        refused = check(secret, key=key)
    assert refused.status_code == 503
    assert refused.json()["error"]["details"]["charged"] is None
    lost_charges.buffer.flush()
    if key:
        assert check(secret, key=key).json()["id"] == Probe.objects.get().result_id
    run_queue()
    assert balance(shop) == (98, 0)
    lost_charges.settle_lost_charges()
    assert balance(shop) == (98 if key else 100, 0)
    assert not LostCharge.objects.exists()
    assert not list(find_discrepancies())


@pytest.mark.usefixtures("pending_from_the_start")
def test_end_of_a_check_that_fails_anywhere_charges_nothing(shop: Account, secret: str) -> None:
    pending = check(secret, key="k")
    probe = Probe.objects.get()
    finding = converse(prepare(probe)).finding
    for last in count():
        executed = 0

        def fail(execute: Any, statement: str, *arguments: Any, last: int = last) -> Any:
            nonlocal executed
            executed += 1
            if executed > last:
                raise OperationalError("The database went away.")
            return execute(statement, *arguments)

        try:
            with connection.execute_wrapper(fail):
                assert finish(probe=probe, finding=finding)
        except OperationalError:
            assert balance(shop) == (98, 2)
            assert not UseHour.objects.exists()
            assert not Event.objects.filter(type="check.completed").exists()
            assert check(secret, key="k").json() == pending.json()
        else:
            break
    assert last > 10
    assert balance(shop) == (98, 0)
    assert check(secret, key="k").json()["reason"] == "mailbox_accepted"
    assert not list(find_discrepancies())


@pytest.mark.usefixtures("pending_from_the_start")
def test_start_of_a_check_that_fails_anywhere_holds_nothing(shop: Account, secret: str) -> None:
    get_engine().check(EMAIL)
    tables = ('"credits_hold"', "validation_logentry", "validation_storedresult")
    for table in (*tables, '"validation_probe"', '"validation_replay"'):

        def fail(execute: Any, statement: str, *arguments: Any, table: str = table) -> Any:
            if table in statement and "INSERT" in statement:
                raise OperationalError("The database went away.")
            return execute(statement, *arguments)

        with connection.execute_wrapper(fail):
            assert check(secret, key="k").status_code == 503, table
        assert balance(shop) == (100, 0)
        assert not Probe.objects.exists()
    assert check(secret, key="k").status_code == 200
    assert balance(shop) == (98, 2)


def test_free_accounts_have_twenty_checks_a_day_whatever_is_sent_concurrently(
    shop: Account, secret: str
) -> None:
    MailboxCheckDay.objects.create(account=shop, day=timezone.now().date(), number=18)
    responses = run_concurrently(CALLERS, lambda _: check(secret, "no address"))
    assert Counter(response.status_code for response in responses) == {200: 2, 402: CALLERS - 2}
    assert MailboxCheckDay.objects.get().number == 20


@pytest.mark.parametrize("limit", ["MAX_WAITING", "MAX_WAITING_PER_ACCOUNT"])
def test_result_is_pending_from_the_start_beyond_the_limit_of_waiting_calls(
    shop: Account, secret: str, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(waiting, limit, 1)
    responses: list[Any] = []
    call = threading.Thread(
        target=lambda: responses.extend(
            run_concurrently(1, lambda _: check(secret, "joe@shop.com", timeout_s=30))
        )
    )
    call.start()
    wait_until(lambda: bool(waiting._waiting))
    # It would wait for the other call's end otherwise.
    assert check(secret, timeout_s=30).json()["smtp"]["state"] == "pending"
    assert waiting._waiting == {shop.pk: 1}
    while call.is_alive():
        run_queue()
        time.sleep(0.01)
    call.join()
    assert responses[0].json()["smtp"]["state"] == "done"
    assert not waiting._waiting
