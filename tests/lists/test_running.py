"""Lists are looked up, checked, charged, checked again, and completed."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone
from prometheus_client import REGISTRY

from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from accounts.services import suspend_account
from apikeys.actor import Actor
from apikeys.models import ApiKey
from credits.models import UseHour
from lists.completion import begin_recheck
from lists.lifecycle import cancel_list, delete_list, finish_list, pause_list
from lists.models import AddressList, ListDomain, ResultCounts
from lists.models.result_counts import MAX_TYPOS
from lists.models.states import ListState
from lists.uploads.options import ListOptions
from lists.uploads.services import upload_list
from runtime.jobs import queue_metrics
from runtime.models import Mail
from tests.conftest import make_user
from tests.lists.factory import make_list, make_started_list
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
from tests.servers.dns import FakeDns, servfail
from tests.support.metrics import Increases
from validation.models import LogEntry

__all__ = ["half_known", "shops"]

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)


def test_list_is_checked_charged_and_completed(account: Account, key: ApiKey) -> None:
    address_list = make_started_list(account, [*GOOD, *BAD], key=key)
    increases = Increases()
    # Blocks of domains, chunks, the end, and the deletion of the domains.
    assert work() == 1 + 4 + 1 + 1
    assert increases.of("list_chunks_total") == {(): 4}
    assert increases.of("list_addresses_total") == {("deliverable",): 25, ("undeliverable",): 12}
    assert counts(address_list) == (25, 0, 12, 0)
    assert wallet(account) == (BALANCE - 37, 0)
    assert usage() == {(key.pk, "deliverable"): (25, 25), (key.pk, "undeliverable"): (12, 12)}
    hour = UseHour.objects.get(verdict="deliverable")
    assert (hour.list_calls, hour.list_credits, hour.duration_ms) == (25, 25, 0)
    assert results_of(address_list) == {
        **dict.fromkeys(GOOD, "domain_accepts_mail"),
        **dict.fromkeys(BAD, "domain_not_found"),
    }
    completed = fresh(address_list)
    assert completed.state == ListState.COMPLETED
    assert completed.finished_at
    assert completed.expires_at == completed.finished_at + timedelta(days=30)
    assert completed.hold
    assert (completed.hold.charged, completed.hold.remaining) == (37, 0)
    assert not LogEntry.objects.exists()
    assert not ListDomain.objects.exists()


def test_each_state_of_a_list_is_logged(
    account: Account, caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    caplog.set_level(logging.INFO, "lists")
    with django_capture_on_commit_callbacks(execute=True):
        address_list = make_started_list(account, GOOD)
        work()
    states = [f"List {address_list.public_id} is {state}" for state in ("queued", "completed")]
    assert [line for line in caplog.messages if line in states] == states


def test_list_that_cannot_start_says_why(account: Account, owner: User) -> None:
    options = ListOptions(starts_when_ready=True, max_credits=5, content_type="text/csv")
    content = "\n".join(["email", *GOOD]).encode()
    address_list = upload_list(actor=Actor(account, user=owner), content=content, options=options)
    work()
    ready = fresh(address_list)
    assert (ready.state, ready.error_code) == (ListState.READY, "max_credits_exceeded")
    assert "25 credits" in ready.error_message
    assert wallet(account) == (BALANCE, 0)


def test_unknown_results_are_checked_again_and_charged_once_they_are_known(
    account: Account, half_known: AddressList, fake_dns: FakeDns
) -> None:
    assert counts(half_known) == (21, 0, 0, 4)
    assert half_known.state == ListState.RECHECKING
    del fake_dns.behaviors["shop1.com", "MX"]
    for _ in recheck_in_time():
        work()
        break
    assert counts(half_known) == (25, 0, 0, 0)
    assert fresh(half_known).state == ListState.COMPLETED
    assert wallet(account) == (BALANCE - 25, 0)
    assert usage() == {(None, "deliverable"): (25, 25)}
    assert set(results_of(half_known).values()) == {"domain_accepts_mail"}


def test_results_are_announced_once_before_unknown_ones_are_checked_again(
    account: Account, fake_dns: FakeDns
) -> None:
    fake_dns.set_behavior("shop1.com", "MX", servfail)
    address_list = make_started_list(account, [*GOOD, "deliverable@sandbox.test"])
    work()
    rechecking = fresh(address_list)
    assert rechecking.state == ListState.RECHECKING
    assert rechecking.results_at
    assert rechecking.can_download
    # The hold shrinks to the price of the unknown results.
    assert wallet(account) == (BALANCE - 25, 4)
    assert emails() == [("owner@shop.example", READY)]
    text = " ".join(Mail.objects.get(subject=READY).text.split())
    assert "4 unknown addresses are checked again until" in text
    assert "up to 4 more credits" in text
    for _ in recheck_in_time():
        work()
    completed = fresh(address_list)
    assert completed.state == ListState.COMPLETED
    assert completed.results_at == rechecking.results_at
    assert len(emails()) == 1


def test_planned_end_of_the_checks_of_unknown_results_is_known(half_known: AddressList) -> None:
    waits = (timedelta(minutes=70), timedelta(minutes=60), timedelta())
    for wait, _ in zip(waits, recheck_in_time(), strict=True):
        waiting = fresh(half_known)
        assert waiting.recheck_at
        assert waiting.rechecks_end_at == waiting.recheck_at + wait
        assert begin_recheck(waiting)
        end = fresh(half_known).rechecks_end_at
        assert end
        assert abs(end - timezone.now() - wait) < SECOND
        work()
    assert fresh(half_known).rechecks_end_at is None


def test_finished_list_is_completed_at_once(account: Account, half_known: AddressList) -> None:
    for _ in range(2):
        assert finish_list(address_list=half_known, actor=None).state == ListState.COMPLETED
    work()
    finished = fresh(half_known)
    assert (finished.recheck_at, finished.rechecks) == (None, 0)
    assert finished.finished_at
    assert wallet(account) == (BALANCE - 21, 0)
    assert usage() == {(None, "deliverable"): (21, 21), (None, "unknown"): (4, 0)}
    assert AuditEntry.objects.filter(action="list.finished").count() == 1
    assert len(emails()) == 1


@pytest.mark.parametrize("pauses", [False, True])
@pytest.mark.parametrize("end", [finish_list, cancel_list])
def test_list_with_all_results_is_completed_even_if_it_is_paused(
    account: Account, half_known: AddressList, end: Callable[..., AddressList], pauses: bool
) -> None:
    if pauses:
        pause_list(address_list=half_known, actor=None)
    assert end(address_list=half_known, actor=None).state == ListState.COMPLETED
    assert wallet(account) == (BALANCE - 21, 0)


def test_results_are_counted_by_reason_and_typo(account: Account, fake_dns: FakeDns) -> None:
    fake_dns.set_behavior("shop1.com", "MX", servfail)
    words = ["deliverable", "risky", "possible_typo", "possible_typo"]
    sandbox = [f"{word}+{number}@sandbox.test" for number, word in enumerate(words)]
    address_list = make_started_list(account, [*GOOD, *BAD, *sandbox], chunk_rows=7)
    work()
    found = fresh(address_list)
    mailboxes = {"mailbox_accepted": 1, "accept_all": 1, "possible_typo": 2}
    domains = {"domain_accepts_mail": 21, "domain_not_found": 12, "dns_failure": 4}
    assert found.reasons == domains | mailboxes
    assert found.safe == 1
    assert found.typos == {"sandbox.test": {"count": 2, "suggestion": "mailbox.test"}}
    del fake_dns.behaviors["shop1.com", "MX"]
    for _ in recheck_in_time():
        work()
        break
    found = fresh(address_list)
    assert (found.reasons["domain_accepts_mail"], "dns_failure" in found.reasons) == (25, False)
    assert sum(found.reasons.values()) == found.checked
    assert found.typos["sandbox.test"]["count"] == 2


def test_most_frequent_typos_are_kept(account: Account) -> None:
    address_list = make_list(account, GOOD[:1])
    for start in (0, 60):
        counts = ResultCounts()
        for number in range(start, start + 100):
            email = {"domain": f"gmail{number}.com", "did_you_mean": "jane@gmail.com"}
            counts.add({"reason": "possible_typo", **email})
        AddressList.objects.filter(pk=address_list.pk).update(**counts.apply_to(address_list))
        address_list = fresh(address_list)
    assert len(address_list.typos) == MAX_TYPOS
    assert {f"gmail{number}.com" for number in range(60, 100)} <= address_list.typos.keys()


def test_unknown_results_are_free_after_the_last_check(
    account: Account, half_known: AddressList, fake_dns: FakeDns
) -> None:
    for _ in recheck_in_time():
        assert fresh(half_known).state == ListState.RECHECKING
        queries = fake_dns.queries["shop1.com", "MX"], fake_dns.queries["shop2.com", "MX"]
        work()
        assert fake_dns.queries["shop1.com", "MX"] > queries[0]
        assert fake_dns.queries["shop2.com", "MX"] == queries[1]
    assert fresh(half_known).state == ListState.COMPLETED
    assert counts(half_known) == (21, 0, 0, 4)
    assert wallet(account) == (BALANCE - 21, 0)
    assert usage() == {(None, "deliverable"): (21, 21), (None, "unknown"): (4, 0)}


def test_unknown_results_of_a_list_deleted_before_its_end_are_recorded(
    account: Account, owner: User, half_known: AddressList
) -> None:
    delete_list(address_list=half_known, actor=Actor(account, user=owner))
    assert wallet(account) == (BALANCE - 21, 0)
    assert usage() == {(None, "deliverable"): (21, 21), (None, "unknown"): (4, 0)}


def test_list_is_not_checked_again_if_its_customer_does_not_want_it(
    account: Account, fake_dns: FakeDns
) -> None:
    fake_dns.set_behavior("shop1.com", "MX", servfail)
    address_list = make_started_list(account, GOOD, rechecks_unknown=False)
    work()
    completed = fresh(address_list)
    assert completed.state == ListState.COMPLETED
    assert completed.results_at
    assert usage()[None, "unknown"] == (4, 0)


def test_sandbox_addresses_are_free_and_not_checked_again(account: Account) -> None:
    words = ["deliverable", "unknown", "insufficient_credits", "disposable"]
    address_list = make_started_list(account, [f"{word}@sandbox.test" for word in words])
    work()
    assert counts(address_list) == (1, 1, 0, 2)
    assert fresh(address_list).state == ListState.COMPLETED
    assert wallet(account) == (BALANCE, 0)
    assert usage() == {}


def test_list_whose_addresses_were_erased_completes(account: Account) -> None:
    address_list = make_list(account, [])
    AddressList.objects.update(state=ListState.QUEUED)
    work()
    assert fresh(address_list).state == ListState.COMPLETED


def emails() -> list[tuple[str, str]]:
    """Return recipients and subjects of the emails about lists."""
    found = Mail.objects.filter(subject__startswith="List ").order_by("to")
    return list(found.values_list("to", "subject"))


READY = "List results ready: customers.csv"


def test_creator_gets_an_email_when_all_results_are_there(account: Account) -> None:
    address_list = make_started_list(account, [*GOOD, *BAD])
    work()
    assert emails() == [("owner@shop.example", READY)]
    email = Mail.objects.get(subject=READY)
    rows = [line.split() for line in email.text.splitlines()]
    for row in ("Deliverable 25", "Risky 0", "Undeliverable 12", "Unknown 0", "Addresses 37"):
        assert row.split() in rows
    assert address_list.public_id in email.text
    assert f"/lists/{address_list.public_id}/" in email.text
    assert "checked again" not in email.text
    assert not mail.outbox


@pytest.mark.parametrize("created_by", ["API key Server", "gone@shop.example"])
def test_email_about_a_list_of_a_key_goes_to_the_creator_of_the_key(
    account: Account, stranger: User, key: ApiKey, created_by: str
) -> None:
    account.memberships.create(user=stranger, role=Role.DEVELOPER)
    key.created_by = stranger
    key.save()
    make_started_list(account, GOOD[:1], key=key, created_by=created_by)
    work()
    assert emails() == [(stranger.email, READY)]


def test_email_goes_to_the_owners_if_the_creator_left_the_account(
    account: Account, stranger: User, key: ApiKey
) -> None:
    for role, name in ((Role.OWNER, "anne"), (Role.ADMIN, "adam")):
        account.memberships.create(user=make_user(f"{name}@shop.example"), role=role)
    key.created_by = stranger
    key.save()
    make_started_list(account, GOOD[:1], key=key, created_by="API key Server")
    work()
    assert emails() == [("anne@shop.example", READY), ("owner@shop.example", READY)]


def test_background_worker_measures_waiting_and_stuck_lists(account: Account, owner: User) -> None:
    make_list(account, GOOD)
    waiting = make_started_list(account, GOOD)
    hour_ago = timezone.now() - timedelta(hours=1)
    AddressList.objects.filter(pk=waiting.pk).update(started_at=hour_ago)
    queue_metrics.measure()
    assert read("lists", state="ready") == 1
    assert read("lists", state="queued") == 1
    assert read("lists", state="parsing") == 0
    assert 3600 <= read("lists_oldest_waiting_seconds") < 3700
    assert read("lists_stuck") == 1
    suspend_account(account=account, actor=owner)
    queue_metrics.measure()
    assert read("lists_oldest_waiting_seconds") == read("lists_stuck") == 0


def read(name: str, **labels: str) -> float:
    value = REGISTRY.get_sample_value(f"emailvalidation_{name}", labels)
    assert value is not None
    return value
