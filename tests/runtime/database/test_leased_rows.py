"""Each row is claimed by one worker at a time, and only that one stores the outcome.

The rows are emails, as the product has them.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from runtime.mail import outbox
from runtime.models import Mail
from tests.servers.product import ROOT
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
            wait([others], timeout=1)
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


@contextmanager
def claiming_processes(number: int, folder: Path) -> Iterator[list["subprocess.Popen[str]"]]:
    """Start processes that are ready to claim rows, and kill them at the end."""
    environment = {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-m", "tests.runtime.database.claiming_process"]
    processes = [
        subprocess.Popen(
            [*command, connection.settings_dict["NAME"]],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(number)
    ]
    try:
        for process in processes:
            assert pipe(process.stdout).readline() == "ready\n"
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def start_claiming(process: "subprocess.Popen[str]") -> None:
    pipe(process.stdin).write("\n")
    pipe(process.stdin).flush()


def read_claimed(process: "subprocess.Popen[str]") -> list[int]:
    return [int(line) for line in iter(pipe(process.stdout).readline, "done\n")]


def pipe(stream: IO[str] | None) -> IO[str]:
    assert stream
    return stream


@pytest.mark.usefixtures("fresh_database")
def test_rows_of_a_killed_process_are_claimed_after_their_lease(tmp_path: Path) -> None:
    queued = queue(3)
    with claiming_processes(1, tmp_path) as (process,):
        start_claiming(process)
        assert read_claimed(process) == queued
    assert claim_all(0) == []
    with time_machine.travel(timezone.now() + Mail.LEASE):
        assert claim_all(0) == queued
