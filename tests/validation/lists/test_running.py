"""Lists are looked up, checked, charged, checked again, and completed."""

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone
from prometheus_client import REGISTRY
from pytest_django import Settings

from accounts.engine import get_engine
from accounts.models import Account, User
from accounts.services import suspend_account
from apikeys.actor import Actor
from apikeys.models import ApiKey
from credits.models import UseHour
from runtime.models import Mail
from tests.servers.dns import FakeDns, servfail, silence
from tests.support.metrics import Increases
from tests.validation.lists.factory import make_list, make_started_list
from tests.validation.lists.runs import (
    BAD,
    BALANCE,
    GOOD,
    counts,
    fresh,
    recheck_in_time,
    results_of,
    shops,
    usage,
    wallet,
    work,
)
from validation.lists.processing import metrics
from validation.lists.processing.running import work_once
from validation.lists.services import delete_list, upload_list
from validation.lists.uploads.options import ListOptions
from validation.models import AddressList, DomainBlock, ListDomain, LogEntry
from validation.models.list_states import State

__all__ = ["shops"]

pytestmark = pytest.mark.django_db


def test_list_is_checked_charged_and_completed(account: Account, key: ApiKey) -> None:
    address_list = make_started_list(account, [*GOOD, *BAD], key=key)
    # Blocks of domains, chunks, the end, and the deletion of the domains.
    assert work() == 1 + 4 + 1 + 1
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


def test_each_domain_is_looked_up_once(account: Account, patient_dns: FakeDns) -> None:
    make_started_list(account, GOOD * 4, chunk_rows=3, block_domains=2)
    work()
    assert {patient_dns.queries[f"shop{number}.com", "MX"] for number in range(7)} == {1}


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


def test_unknown_results_of_a_list_deleted_before_its_end_are_recorded(
    account: Account, owner: User, fake_dns: FakeDns
) -> None:
    fake_dns.set_behavior("shop1.com", "MX", servfail)
    address_list = make_started_list(account, GOOD)
    work()
    delete_list(address_list=address_list, actor=Actor(account, user=owner))
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


def test_creator_gets_an_email_when_the_list_is_completed(account: Account) -> None:
    address_list = make_started_list(account, [*GOOD, *BAD])
    work()
    email = Mail.objects.get(to="owner@shop.example", subject__startswith="List completed")
    rows = [line.split() for line in email.text.splitlines()]
    for row in ("Deliverable 25", "Risky 0", "Undeliverable 12", "Unknown 0", "Addresses 37"):
        assert row.split() in rows
    assert address_list.public_id in email.text
    assert f"/validation/lists/{address_list.public_id}/" in email.text
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
