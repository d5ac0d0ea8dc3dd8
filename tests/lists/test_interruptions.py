"""Lists that are paused, canceled or out of credits while they run, and whose turn it is."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, AuditEntry, User
from accounts.services import close_account, lift_suspension, suspend_account
from credits.models import Wallet
from lists.lifecycle import cancel_list, finish_list, pause_list, resume_list
from lists.models import AddressList, ListChunk
from lists.models.states import ListState
from lists.processing import chunks, running
from lists.processing.running import work_once
from runtime.models import Mail
from tests.lists.factory import make_started_list
from tests.lists.runs import (
    BAD,
    BALANCE,
    GOOD,
    counts,
    fresh,
    half_known,
    recheck_in_time,
    results_of,
    shops,
    usage,
    wallet,
    work,
)
from tests.servers.dns import FakeDns

__all__ = ["half_known", "shops"]

pytestmark = pytest.mark.django_db


def begin_list(account: Account) -> tuple[AddressList, ListChunk]:
    """Check ten of 25 addresses, and claim the chunk of the next ten."""
    address_list = make_started_list(account, GOOD)
    for _ in range(2):
        work_once()
    chunk = ListChunk.objects.claim()
    assert chunk
    return fresh(address_list), chunk


@pytest.mark.parametrize(
    ("interrupt", "held"),
    [
        (lambda made: pause_list(address_list=made, actor=None), 15),
        (lambda made: cancel_list(address_list=made, actor=None), 0),
        (lambda made: suspend_account(account=made.account, actor=User.objects.get()), 15),
        (lambda made: close_account(account=made.account, actor=User.objects.get()), 15),
    ],
    ids=["pause", "cancel", "suspend", "close"],
)
def test_chunk_that_is_being_checked_at_an_interruption_is_not_charged(
    account: Account, interrupt: Callable[[AddressList], object], held: int
) -> None:
    address_list, chunk = begin_list(account)
    interrupt(address_list)
    chunks.check_chunk(address_list, chunk)
    assert counts(address_list) == (10, 0, 0, 0)
    assert wallet(account) == (BALANCE - 10 - held, held)
    assert address_list.chunks.filter(is_done=True).count() == 1


def test_chunk_of_an_ended_lease_is_charged_once(account: Account) -> None:
    address_list = make_started_list(account, GOOD[:10])
    work_once()
    first = ListChunk.objects.claim()
    ListChunk.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    second = ListChunk.objects.claim()
    assert first
    assert second
    AddressList.objects.update(state=ListState.RUNNING)
    for chunk in (first, second, second):
        chunks.check_chunk(fresh(address_list), chunk)
    assert counts(address_list) == (10, 0, 0, 0)
    assert wallet(account) == (BALANCE - 10, 0)


def test_list_pauses_if_its_credits_were_deducted(account: Account) -> None:
    address_list = make_started_list(account, [*GOOD, *BAD])
    work_once()
    work_once()
    Wallet.objects.deduct(account, BALANCE - 20)
    while work_once():
        pass
    paused = fresh(address_list)
    assert (paused.state, paused.error_code) == (ListState.PAUSED, "credits_deducted")
    assert paused.error_message.startswith("The credits held for this list were used")
    assert counts(address_list) == (10, 0, 0, 0)
    assert AuditEntry.objects.get(action="list.paused").who == "Automatic"
    Wallet.objects.add(account, 100)
    resume_list(address_list=address_list, actor=None)
    while work_once():
        pass
    assert fresh(address_list).state == ListState.COMPLETED
    assert sum(calls for calls, _ in usage().values()) == 37
    assert sum(credits for _, credits in usage().values()) == 37


@pytest.fixture
def rechecking(half_known: AddressList, fake_dns: FakeDns) -> AddressList:
    """A list with four unknown results, whose domain has recovered."""
    del fake_dns.behaviors["shop1.com", "MX"]
    return half_known


def test_list_paused_while_unknown_results_are_checked_again_goes_on(
    account: Account, rechecking: AddressList
) -> None:
    pause_list(address_list=rechecking, actor=None)
    for _ in recheck_in_time():
        assert work() == 0
        resume_list(address_list=rechecking, actor=None)
        work()
        break
    assert fresh(rechecking).state == ListState.COMPLETED
    assert wallet(account) == (BALANCE - 25, 0)


def test_list_without_credits_for_unknown_results_pauses_and_goes_on(
    account: Account, rechecking: AddressList
) -> None:
    Wallet.objects.deduct(account, BALANCE - 25 + 4)
    for _ in recheck_in_time():
        while work_once():
            pass
        assert fresh(rechecking).error_code == "credits_deducted"
        assert counts(rechecking) == (21, 0, 0, 4)
        Wallet.objects.add(account, 10)
        resume_list(address_list=rechecking, actor=None)
        assert Wallet.objects.get(account=account).held == 4
        while work_once():
            pass
        break
    assert fresh(rechecking).state == ListState.COMPLETED
    assert usage() == {(None, "deliverable"): (25, 25)}


def test_chunk_that_is_being_checked_again_when_the_list_is_finished_is_not_charged(
    account: Account, rechecking: AddressList
) -> None:
    for _ in recheck_in_time():
        for _unit in ("begin", "domains"):
            assert work_once()
        chunk = ListChunk.objects.claim()
        assert chunk
        before = fresh(rechecking)
        finish_list(address_list=rechecking, actor=None)
        chunks.check_chunk(before, chunk)
        break
    assert counts(rechecking) == (21, 0, 0, 4)
    assert wallet(account) == (BALANCE - 21, 0)
    assert len(results_of(rechecking)) == 25


def test_lists_of_a_suspended_account_wait(account: Account, owner: User) -> None:
    address_list = make_started_list(account, GOOD)
    work_once()
    work_once()
    suspend_account(account=account, actor=owner)
    assert work() == 0
    assert counts(address_list) == (10, 0, 0, 0)
    lift_suspension(account=account, actor=owner)
    work()
    assert fresh(address_list).state == ListState.COMPLETED


def test_short_list_waits_for_one_chunk_of_a_long_one(account: Account, stranger: User) -> None:
    elsewhere = Account.objects.get(memberships__user=stranger)
    long = make_started_list(account, GOOD[:20], chunk_rows=1)
    for _ in range(5):
        work_once()
    short = make_started_list(elsewhere, GOOD[:1])
    before = fresh(long).checked
    while fresh(short).state != ListState.COMPLETED:
        assert work_once()
    # The short list needs three turns: its domain, its chunk, and its end.
    assert fresh(long).checked - before <= 3
    work()
    assert fresh(long).state == ListState.COMPLETED


def test_account_with_many_lists_has_one_turn_at_a_time(account: Account, stranger: User) -> None:
    elsewhere = Account.objects.get(memberships__user=stranger)
    many = [make_started_list(account, GOOD[:4], chunk_rows=1) for _ in range(5)]
    other = make_started_list(elsewhere, GOOD[:4], chunk_rows=1)
    while fresh(other).state != ListState.COMPLETED:
        assert work_once()
    assert sum(fresh(address_list).checked for address_list in many) <= 4
    assert {fresh(address_list).state for address_list in many} <= {
        ListState.QUEUED,
        ListState.RUNNING,
    }


def test_unit_that_fails_again_and_again_fails_the_list(account: Account) -> None:
    address_list = make_started_list(account, GOOD)
    work_once()
    ListChunk.objects.update(attempts=running.MAX_ATTEMPTS)
    work()
    failed = fresh(address_list)
    assert (failed.state, failed.error_code) == (ListState.FAILED, "internal_error")
    assert wallet(account) == (BALANCE, 0)
    email = Mail.objects.get(to="owner@shop.example", subject__startswith="List failed")
    assert "customers.csv" in email.subject
    assert "not charged" in email.text


def test_unit_that_fails_again_and_again_in_a_recheck_completes_the_list(
    account: Account, rechecking: AddressList
) -> None:
    for _ in recheck_in_time():
        ListChunk.objects.update(attempts=running.MAX_ATTEMPTS)
        work()
        break
    assert fresh(rechecking).state == ListState.COMPLETED
    assert wallet(account) == (BALANCE - 21, 0)


def test_list_can_be_paused_any_number_of_times(account: Account) -> None:
    address_list = make_started_list(account, GOOD)
    work_once()
    for _ in range(running.MAX_ATTEMPTS + 1):
        chunk = address_list.chunks.claim()
        assert chunk
        pause_list(address_list=address_list, actor=None)
        chunks.check_chunk(fresh(address_list), chunk)
        resume_list(address_list=address_list, actor=None)
    work()
    assert fresh(address_list).state == ListState.COMPLETED
    assert wallet(account) == (BALANCE - 25, 0)
