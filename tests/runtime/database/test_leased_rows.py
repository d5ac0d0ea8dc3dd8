"""Each row is claimed by one worker at a time, and only that one stores the outcome.

The rows are emails, as the product has them.
"""

from concurrent.futures import ThreadPoolExecutor, wait

import pytest
import time_machine
from django.db import connection, transaction  # noqa: F401 - in a condition below
from django.utils import timezone

from runtime.mail import outbox
from runtime.models import Mail
from tests.support.fresh_database import run_concurrently


def queue(number: int) -> list[int]:
    """Queue emails and return their ids, in the order in which they are due."""
    return [
        outbox.queue_mail(to="jane@shop.example", subject="Hello", text="", html="").pk
        for _ in range(number)
    ]


def claim() -> Mail:
    mail = Mail.objects.claim()
    assert mail
    return mail


def claim_after_the_lease() -> Mail:
    with time_machine.travel(timezone.now() + Mail.LEASE):
        return claim()


def claim_all(_: int) -> list[int]:
    ids = []
    while mail := Mail.objects.claim():
        ids.append(mail.pk)
    return ids


@pytest.mark.django_db
def test_rows_are_claimed_once_in_their_order() -> None:
    queued = queue(3)
    Mail.objects.filter(pk=queued[0]).update(next_attempt_at=timezone.now())
    assert claim_all(0) == [queued[1], queued[2], queued[0]]
    assert claim_all(0) == []


@pytest.mark.django_db
def test_claimed_row_has_its_stored_values() -> None:
    queue(1)
    mail = claim()
    stored = Mail.objects.get()
    assert (mail.attempts, mail.leased_until) == (stored.attempts, stored.leased_until)
    assert (mail.attempts, mail.subject) == (1, "Hello")


@pytest.mark.django_db
def test_claim_considers_only_the_rows_of_its_queryset() -> None:
    queued = queue(2)
    mail = Mail.objects.filter(pk=queued[1]).claim()
    assert mail and mail.pk == queued[1]
    assert Mail.objects.filter(pk=queued[1]).claim() is None


@pytest.mark.usefixtures("fresh_database")
def test_concurrent_threads_claim_different_rows() -> None:
    queued = queue(60)
    claimed = [pk for ids in run_concurrently(6, claim_all) for pk in ids]
    assert sorted(claimed) == queued
    assert set(Mail.objects.values_list("attempts", flat=True)) == {1}


@pytest.mark.usefixtures("fresh_database")
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time")
def test_claim_does_not_wait_for_the_claim_of_another_transaction() -> None:
    queued = queue(2)
    with transaction.atomic():
        assert claim().pk == queued[0]
        assert run_concurrently(1, claim_all) == [[queued[1]]]


@pytest.mark.django_db
def test_holder_whose_lease_ended_changes_nothing_after_another_claim() -> None:
    queue(1)
    slow = claim()
    other = claim_after_the_lease()
    assert not slow.renew()
    assert not slow.lock_if_held()
    assert not slow.release(sent_at=timezone.now())
    assert slow.sent_at is None
    assert other.lock_if_held()
    assert other.release(sent_at=timezone.now())
    assert Mail.objects.get().sent_at == other.sent_at


@pytest.mark.django_db
def test_holder_whose_lease_ended_may_finish_before_another_claim() -> None:
    queue(1)
    mail = claim()
    with time_machine.travel(timezone.now() + Mail.LEASE):
        assert mail.lock_if_held()
        assert mail.release(sent_at=timezone.now())
        assert Mail.objects.claim() is None


@pytest.mark.usefixtures("fresh_database")
def test_locked_row_is_not_claimed_while_its_outcome_is_stored() -> None:
    queue(1)
    mail = claim()
    with time_machine.travel(timezone.now() + Mail.LEASE), ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert mail.lock_if_held()
            others = pool.submit(run_concurrently, 1, claim_all)
            # PostgreSQL skips the row; on SQLite, the claim waits for this transaction's end.
            wait([others], timeout=0.2)
            assert mail.release(sent_at=timezone.now())
        assert others.result() == [[]]


@pytest.mark.usefixtures("fresh_database")
def test_row_whose_transaction_failed_is_still_held() -> None:
    queue(1)
    mail = claim()
    with pytest.raises(RuntimeError), transaction.atomic():
        assert mail.lock_if_held()
        raise RuntimeError
    assert mail.release(last_error="RuntimeError")
