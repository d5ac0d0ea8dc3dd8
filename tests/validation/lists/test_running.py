"""Lists are looked up, checked, charged, checked again, and completed."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.utils import timezone
from prometheus_client import REGISTRY
from pytest_django import Settings

from accounts.engine import get_engine
from accounts.models import Account, AuditEntry, User
from accounts.services import close_account, lift_suspension, suspend_account
from apikeys.models import ApiKey
from credits.models import UseHour, Wallet
from credits.wallet.books import find_discrepancies
from runtime.models import Mail
from tests.servers.dns import FakeDns, servfail, silence
from tests.support.metrics import Increases
from tests.validation.lists.factory import make_list, make_started_list
from validation.lists import chunks, metrics, running
from validation.lists.control import cancel_list, pause_list, resume_list
from validation.lists.options import ListOptions
from validation.lists.payloads import unpack_results
from validation.lists.running import work_once
from validation.lists.services import Actor, upload_list
from validation.models import AddressList, DomainBlock, ListChunk, ListDomain, LogEntry
from validation.models.list_states import State

pytestmark = pytest.mark.django_db

BALANCE = 100
GOOD = [f"customer{number}@shop{number % 7}.com" for number in range(25)]
BAD = [f"customer{number}@nowhere{number % 3}.com" for number in range(12)]


@pytest.fixture(autouse=True)
def _shops(fake_dns: FakeDns) -> None:
    for number in range(7):
        fake_dns.add_mail_domain(f"shop{number}.com")


def work() -> int:
    """Work until nothing is left to do now, and return the number of units."""
    units = 0
    while work_once():
        units += 1
        assert list(find_discrepancies()) == []
    return units


def fresh(address_list: AddressList) -> AddressList:
    return AddressList.objects.get(pk=address_list.pk)


def counts(address_list: AddressList) -> tuple[int, ...]:
    found = fresh(address_list)
    assert found.checked == found.deliverable + found.risky + found.undeliverable + found.unknown
    return found.deliverable, found.risky, found.undeliverable, found.unknown


def wallet(account: Account) -> tuple[int, int]:
    found = Wallet.objects.get(account=account)
    return found.balance, found.held


def usage() -> dict[tuple[int | None, str], tuple[int, int]]:
    return {
        (hour.key_id, hour.verdict): (hour.calls, hour.credits)
        for hour in UseHour.objects.order_by("verdict")
    }


def results_of(address_list: AddressList) -> dict[str, str]:
    results = [
        result
        for chunk in address_list.chunks.order_by("number")
        for result in unpack_results(bytes(chunk.results))
    ]
    return {result["email"]: result["reason"] for result in results}


def recheck_in_time() -> Iterator[int]:
    """Travel to each time at which unknown results are checked again."""
    start = timezone.now()
    for minutes in (2, 13, 74):
        with time_machine.travel(start + timedelta(minutes=minutes)):
            # Its clock doesn't travel, so failed lookups would still be cached.
            get_engine.cache_clear()
            yield minutes


def test_list_is_checked_charged_and_completed(account: Account, key: ApiKey) -> None:
    address_list = make_started_list(account, [*GOOD, *BAD], key=key)
    # Blocks of domains, chunks, and the end.
    assert work() == 1 + 4 + 1
    assert counts(address_list) == (25, 0, 12, 0)
    assert wallet(account) == (BALANCE - 37, 0)
    assert usage() == {(key.pk, "deliverable"): (25, 25), (key.pk, "undeliverable"): (12, 12)}
    assert results_of(address_list) == {
        **dict.fromkeys(GOOD, "domain_accepts_mail"),
        **dict.fromkeys(BAD, "domain_not_found"),
    }
    completed = fresh(address_list)
    assert completed.state == State.COMPLETED
    assert completed.finished_at
    assert completed.expires_at == completed.finished_at + timedelta(days=30)
    assert completed.hold
    assert (completed.hold.charged, completed.hold.remaining) == (37, 0)
    assert not LogEntry.objects.exists()


def test_each_domain_is_looked_up_once(account: Account, fake_dns: FakeDns) -> None:
    make_started_list(account, GOOD * 4, chunk_rows=3, block_domains=2)
    work()
    assert {fake_dns.queries[f"shop{number}.com", "MX"] for number in range(7)} == {1}


def test_domains_are_forgotten_once_the_list_is_completed(account: Account) -> None:
    make_started_list(account, GOOD)
    work()
    assert not ListDomain.objects.exists()
    assert not DomainBlock.objects.exists()


def test_list_of_the_dashboard_is_booked_without_a_key(account: Account) -> None:
    make_started_list(account, GOOD[:3])
    work()
    assert usage() == {(None, "deliverable"): (3, 3)}
    assert UseHour.objects.get().duration_ms == 0


def test_uploaded_list_runs_without_another_call(account: Account, owner: User) -> None:
    content = "\n".join(["email", *GOOD, GOOD[0], "", "no address"]).encode()
    options = ListOptions(starts_when_ready=True, content_type="text/csv")
    actor = Actor(account, user=owner)
    address_list = upload_list(actor=actor, content=content, options=options)
    work()
    assert fresh(address_list).state == State.COMPLETED
    assert counts(address_list) == (25, 0, 0, 0)
    assert wallet(account) == (BALANCE - 25, 0)


def test_list_that_cannot_start_says_why(account: Account, owner: User) -> None:
    options = ListOptions(starts_when_ready=True, max_credits=5, content_type="text/csv")
    content = "\n".join(["email", *GOOD]).encode()
    address_list = upload_list(actor=Actor(account, user=owner), content=content, options=options)
    work()
    ready = fresh(address_list)
    assert (ready.state, ready.error_code) == (State.READY, "insufficient_credits")
    assert "25 credits" in ready.error_message
    assert wallet(account) == (BALANCE, 0)


def test_unknown_results_are_checked_again_and_charged_once_they_are_known(
    account: Account, fake_dns: FakeDns
) -> None:
    fake_dns.set_behavior("shop1.com", "MX", servfail)
    address_list = make_started_list(account, GOOD)
    work()
    assert counts(address_list) == (21, 0, 0, 4)
    assert fresh(address_list).state == State.RECHECKING
    assert wallet(account) == (BALANCE - 25, 4)
    del fake_dns.behaviors["shop1.com", "MX"]
    for _ in recheck_in_time():
        work()
        break
    assert counts(address_list) == (25, 0, 0, 0)
    assert fresh(address_list).state == State.COMPLETED
    assert wallet(account) == (BALANCE - 25, 0)
    assert usage() == {(None, "deliverable"): (25, 25)}
    assert set(results_of(address_list).values()) == {"domain_accepts_mail"}


def test_unknown_results_are_free_after_the_last_check(account: Account, fake_dns: FakeDns) -> None:
    fake_dns.set_behavior("shop1.com", "MX", servfail)
    address_list = make_started_list(account, GOOD)
    work()
    for _ in recheck_in_time():
        assert fresh(address_list).state == State.RECHECKING
        queries = fake_dns.queries["shop1.com", "MX"], fake_dns.queries["shop2.com", "MX"]
        work()
        assert fake_dns.queries["shop1.com", "MX"] > queries[0]
        assert fake_dns.queries["shop2.com", "MX"] == queries[1]
    assert fresh(address_list).state == State.COMPLETED
    assert counts(address_list) == (21, 0, 0, 4)
    assert wallet(account) == (BALANCE - 21, 0)
    assert usage() == {(None, "deliverable"): (21, 21), (None, "unknown"): (4, 0)}


def test_list_heals_after_the_resolver_was_silent(
    account: Account, fake_dns: FakeDns, settings: Settings
) -> None:
    settings.DNS_TIMEOUT = 0.2
    get_engine.cache_clear()
    fake_dns.default_behavior = silence
    address_list = make_started_list(account, [*GOOD, *BAD])
    work()
    assert counts(address_list) == (0, 0, 0, 37)
    assert wallet(account) == (BALANCE - 37, 37)
    fake_dns.default_behavior = None
    settings.DNS_TIMEOUT = 3
    for _ in recheck_in_time():
        work()
        break
    assert counts(address_list) == (25, 0, 12, 0)
    assert wallet(account) == (BALANCE - 37, 0)


def test_list_is_not_checked_again_if_its_customer_does_not_want_it(
    account: Account, fake_dns: FakeDns
) -> None:
    fake_dns.set_behavior("shop1.com", "MX", servfail)
    address_list = make_started_list(account, GOOD, rechecks_unknown=False)
    work()
    assert fresh(address_list).state == State.COMPLETED
    assert usage()[None, "unknown"] == (4, 0)


def test_sandbox_addresses_are_free_and_not_checked_again(account: Account) -> None:
    words = ["deliverable", "unknown", "insufficient_credits", "disposable"]
    address_list = make_started_list(account, [f"{word}@sandbox.test" for word in words])
    work()
    assert counts(address_list) == (1, 1, 0, 2)
    assert fresh(address_list).state == State.COMPLETED
    assert wallet(account) == (BALANCE, 0)
    assert usage() == {}


def test_invalid_address_costs_a_credit_as_in_a_single_call(account: Account) -> None:
    address_list = make_started_list(account, ["jane@", "jane@shop.example"])
    work()
    assert results_of(address_list) == {
        "jane@": "invalid_syntax",
        "jane@shop.example": "reserved_domain",
    }
    assert wallet(account) == (BALANCE - 2, 0)


def test_empty_list_completes(account: Account) -> None:
    address_list = make_started_list(account, [])
    work()
    assert fresh(address_list).state == State.COMPLETED


def test_chunk_that_is_being_checked_when_the_list_is_paused_is_not_charged(
    account: Account,
) -> None:
    address_list = make_started_list(account, GOOD)
    work_once()
    work_once()
    chunk = ListChunk.objects.claim()
    assert chunk
    running_list = fresh(address_list)
    pause_list(address_list=address_list, actor=None)
    chunks.check_chunk(running_list, chunk)
    assert counts(address_list) == (10, 0, 0, 0)
    assert work() == 0
    resume_list(address_list=address_list, actor=None)
    work()
    assert counts(address_list) == (25, 0, 0, 0)
    assert wallet(account) == (BALANCE - 25, 0)


def test_chunk_that_is_being_checked_when_the_list_is_canceled_is_not_charged(
    account: Account,
) -> None:
    address_list = make_started_list(account, GOOD)
    work_once()
    work_once()
    chunk = ListChunk.objects.claim()
    assert chunk
    running_list = fresh(address_list)
    cancel_list(address_list=address_list, actor=None)
    chunks.check_chunk(running_list, chunk)
    assert fresh(address_list).state == State.CANCELED
    assert counts(address_list) == (10, 0, 0, 0)
    assert wallet(account) == (BALANCE - 10, 0)
    assert len(results_of_done(address_list)) == 10


def results_of_done(address_list: AddressList) -> list[object]:
    done = address_list.chunks.filter(is_done=True)
    return [result for chunk in done for result in unpack_results(bytes(chunk.results))]


def test_chunk_of_an_ended_lease_is_charged_once(account: Account) -> None:
    address_list = make_started_list(account, GOOD[:10])
    work_once()
    first = ListChunk.objects.claim()
    ListChunk.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    second = ListChunk.objects.claim()
    assert first
    assert second
    AddressList.objects.update(state=State.RUNNING)
    for chunk in (first, second, second):
        chunks.check_chunk(fresh(address_list), chunk)
    assert counts(address_list) == (10, 0, 0, 0)
    assert wallet(account) == (BALANCE - 10, 0)


def test_list_pauses_if_its_credits_were_deducted(account: Account) -> None:
    address_list = make_started_list(account, [*GOOD, *BAD])
    work_once()
    work_once()
    Wallet.objects.deduct(account, BALANCE - 20)
    assert wallet(account)[1] == 0
    while work_once():
        pass
    paused = fresh(address_list)
    assert (paused.state, paused.error_code) == (State.PAUSED, "credits_deducted")
    assert paused.error_message.startswith("The credits held for this list were used")
    assert counts(address_list) == (10, 0, 0, 0)
    assert AuditEntry.objects.get(action="list.paused").who == "Automatic"
    Wallet.objects.add(account, 100)
    resume_list(address_list=address_list, actor=None)
    while work_once():
        pass
    assert fresh(address_list).state == State.COMPLETED
    assert sum(calls for calls, _ in usage().values()) == 37
    assert sum(credits for _, credits in usage().values()) == 37


def test_lists_of_a_suspended_account_wait(account: Account, owner: User) -> None:
    address_list = make_started_list(account, GOOD)
    work_once()
    work_once()
    suspend_account(account=account, actor=owner)
    assert work() == 0
    assert counts(address_list) == (10, 0, 0, 0)
    lift_suspension(account=account, actor=owner)
    work()
    assert fresh(address_list).state == State.COMPLETED


@pytest.mark.parametrize("end", [suspend_account, close_account])
def test_chunk_that_is_being_checked_when_the_account_ends_is_not_charged(
    account: Account, owner: User, end: object
) -> None:
    address_list = make_started_list(account, GOOD)
    work_once()
    work_once()
    chunk = ListChunk.objects.claim()
    assert chunk
    end(account=account, actor=owner)  # type: ignore[operator]
    chunks.check_chunk(fresh(address_list), chunk)
    assert counts(address_list) == (10, 0, 0, 0)
    assert wallet(account) == (BALANCE - 25, 15)


def test_short_list_waits_for_one_chunk_of_a_long_one(account: Account, stranger: User) -> None:
    elsewhere = Account.objects.get(memberships__user=stranger)
    long = make_started_list(account, GOOD[:20], chunk_rows=1)
    for _ in range(5):
        work_once()
    short = make_started_list(elsewhere, GOOD[:1])
    before = fresh(long).checked
    while fresh(short).state != State.COMPLETED:
        assert work_once()
    # The short list needs three turns: its domain, its chunk, and its end.
    assert fresh(long).checked - before <= 3
    work()
    assert fresh(long).state == State.COMPLETED


def test_account_with_many_lists_has_one_turn_at_a_time(account: Account, stranger: User) -> None:
    elsewhere = Account.objects.get(memberships__user=stranger)
    many = [make_started_list(account, GOOD[:4], chunk_rows=1) for _ in range(5)]
    other = make_started_list(elsewhere, GOOD[:4], chunk_rows=1)
    while fresh(other).state != State.COMPLETED:
        assert work_once()
    assert sum(fresh(address_list).checked for address_list in many) <= 4
    assert {fresh(address_list).state for address_list in many} <= {State.QUEUED, State.RUNNING}


def test_unit_that_fails_again_and_again_fails_the_list(account: Account) -> None:
    address_list = make_started_list(account, GOOD)
    work_once()
    ListChunk.objects.update(attempts=running.MAX_ATTEMPTS)
    work()
    failed = fresh(address_list)
    assert (failed.state, failed.error_code) == (State.FAILED, "internal_error")
    assert wallet(account) == (BALANCE, 0)
    email = Mail.objects.get(to="owner@shop.example", subject__startswith="List failed")
    assert "customers.csv" in email.subject
    assert "not charged" in email.text


def test_creator_gets_an_email_when_the_list_is_completed(account: Account) -> None:
    address_list = make_started_list(account, [*GOOD, *BAD])
    work()
    email = Mail.objects.get(to="owner@shop.example", subject__startswith="List completed")
    assert "25 deliverable, 0 risky, 12 undeliverable, 0 unknown" in email.text
    assert address_list.public_id in email.text
    assert not mail.outbox


def test_creator_who_left_the_account_gets_no_email(account: Account) -> None:
    make_started_list(account, GOOD[:1], created_by="gone@shop.example")
    work()
    assert not Mail.objects.filter(subject__startswith="List").exists()


def test_work_is_counted(account: Account) -> None:
    make_started_list(account, [*GOOD, *BAD])
    increases = Increases()
    work()
    assert increases.of("list_chunks_total") == {(): 4}
    assert increases.of("list_addresses_total") == {("deliverable",): 25, ("undeliverable",): 12}


def test_queue_is_measured(account: Account, owner: User) -> None:
    make_list(account, GOOD)
    waiting = make_started_list(account, GOOD)
    hour_ago = timezone.now() - timedelta(hours=1)
    AddressList.objects.filter(pk=waiting.pk).update(started_at=hour_ago)
    metrics.measure()
    assert read("lists", state="ready") == 1
    assert read("lists", state="queued") == 1
    assert read("lists", state="parsing") == 0
    assert 3600 <= read("lists_oldest_waiting_seconds") < 3700
    suspend_account(account=account, actor=owner)
    metrics.measure()
    assert read("lists_oldest_waiting_seconds") == 0


def read(name: str, **labels: str) -> float:
    value = REGISTRY.get_sample_value(f"emailvalidation_{name}", labels)
    assert value is not None
    return value


def test_lists_that_are_being_checked_again_do_not_keep_processes_busy(
    account: Account, fake_dns: FakeDns
) -> None:
    fake_dns.set_behavior("shop1.com", "MX", servfail)
    make_list(account, GOOD)
    make_started_list(account, GOOD)
    work()
    assert work_once() is False
