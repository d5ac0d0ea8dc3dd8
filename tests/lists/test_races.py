"""Concurrent operations on a list, each on its own connection, have one outcome."""

from accounts.models import Account
from credits.models import UseHour
from lists.completion import finish_round
from lists.lifecycle import InvalidState, pause_list, resume_list
from lists.models import AddressList
from lists.models.states import ListState
from lists.processing.running import work_once
from runtime.models import Mail
from tests.lists.factory import make_list, make_started_list
from tests.lists.runs import BALANCE, wallet, work
from tests.lists.test_lifecycle import EMAILS, OPERATIONS, start, state_of
from tests.servers.dns import FakeDns
from tests.support.fresh_database import run_concurrently


def test_list_started_by_several_requests_holds_credits_once(shop: Account) -> None:
    address_list = make_list(shop, EMAILS)
    outcomes = run_concurrently(6, lambda _: start(address_list))
    assert sum(isinstance(outcome, AddressList) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, InvalidState) for outcome in outcomes) == 5
    assert wallet(shop) == (BALANCE - 20, 20)


def test_concurrent_operations_leave_the_books_in_agreement(shop: Account) -> None:
    address_list = make_list(shop, EMAILS)
    operations = [operation.run for operation in OPERATIONS.values()] * 2
    outcomes = run_concurrently(len(operations), lambda n: operations[n](address_list))
    assert all(isinstance(outcome, AddressList | InvalidState) for outcome in outcomes)
    assert state_of(address_list) == ListState.CANCELED
    assert wallet(shop) == (BALANCE, 0)


def test_threads_share_one_list(shop: Account, patient_dns: FakeDns) -> None:
    for number in range(20):
        patient_dns.add_mail_domain(f"shop{number}.com")
    address_list = make_started_list(shop, EMAILS, chunk_rows=1, block_domains=2)

    def work_until_checked(_: int) -> int:
        units = 0
        # An unknown result would be checked again in a minute.
        while state_of(address_list) in (ListState.QUEUED, ListState.RUNNING):
            units += work_once()
        return units

    units = run_concurrently(3, work_until_checked)
    assert all(isinstance(count, int) for count in units), units
    address_list.refresh_from_db()
    assert (address_list.checked, address_list.deliverable) == (20, 20)
    assert wallet(shop) == (BALANCE - 20, 0)
    assert UseHour.objects.get().calls == 20
    assert {patient_dns.queries[f"shop{number}.com", "MX"] for number in range(20)} == {1}


def test_list_is_completed_once(shop: Account) -> None:
    address_list = make_list(shop, [])
    AddressList.objects.update(state=ListState.RUNNING)
    outcomes = run_concurrently(4, lambda _: finish_round(address_list))
    assert sorted(outcomes) == [False, False, False, True]
    assert Mail.objects.filter(subject__startswith="List results").count() == 1


def test_chunks_are_stored_while_their_list_is_paused_and_resumed(
    shop: Account, fake_dns: FakeDns
) -> None:
    for number in range(20):
        fake_dns.add_mail_domain(f"shop{number}.com")
    address_list = make_started_list(shop, EMAILS, chunk_rows=1)

    def act(number: int) -> None:
        for _ in range(30):
            if number == 0:
                pause_list(address_list=address_list, actor=None)
                resume_list(address_list=address_list, actor=None)
            else:
                work_once()

    outcomes = run_concurrently(3, act)
    assert all(outcome is None or isinstance(outcome, InvalidState) for outcome in outcomes)
    work()
    assert state_of(address_list) == ListState.COMPLETED
    assert wallet(shop) == (BALANCE - 20, 0)
    assert UseHour.objects.get().calls == 20
