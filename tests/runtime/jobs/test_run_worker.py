"""Daily jobs run once per day, in one worker, and are retried after failures."""

from datetime import timedelta

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEntry
from runtime.jobs.daily import LEASE_NAME, run_daily_if_due
from runtime.models import Lease

pytestmark = pytest.mark.django_db

HERE = "tests.runtime.jobs.test_run_worker"


def record_run() -> None:
    AuditEntry.objects.create(action="test.ran")


def fail() -> None:
    raise RuntimeError("this job always fails")


def run_count() -> int:
    return AuditEntry.objects.filter(action="test.ran").count()


@pytest.fixture(autouse=True)
def _jobs(settings: Settings) -> None:
    settings.ON_EVERY_DAY = [f"{HERE}.record_run"]


def test_daily_jobs_run_once_a_day_for_all_workers() -> None:
    assert run_daily_if_due("one") is True
    assert run_daily_if_due("one") is False
    assert run_daily_if_due("another") is False
    assert run_count() == 1
    # After missed days.
    Lease.objects.update(done_for=timezone.now().date() - timedelta(days=5))
    run_daily_if_due("one")
    assert run_count() == 2


def test_lease_of_another_worker_is_respected_until_it_ends() -> None:
    Lease.objects.acquire(LEASE_NAME, "one", day=timezone.now().date(), seconds=60)
    assert run_daily_if_due("another") is False
    assert run_count() == 0
    Lease.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert run_daily_if_due("another") is True


CLOCK_AHEAD = timedelta(days=120)


def test_daily_jobs_run_after_the_clock_was_months_ahead() -> None:
    with time_machine.travel(timezone.now() + CLOCK_AHEAD):
        assert run_daily_if_due("one") is True
    assert run_daily_if_due("one") is True
    assert run_daily_if_due("one") is False
    assert run_count() == 2


def test_lease_acquired_while_the_clock_was_ahead_is_ignored() -> None:
    with time_machine.travel(timezone.now() + CLOCK_AHEAD):
        Lease.objects.acquire(LEASE_NAME, "one", day=timezone.now().date(), seconds=3600)
    assert run_daily_if_due("another") is True


def test_failed_job_does_not_keep_others_from_running(settings: Settings) -> None:
    settings.ON_EVERY_DAY = [f"{HERE}.fail", f"{HERE}.record_run"]
    assert run_daily_if_due("one") is False
    assert run_count() == 1
    assert Lease.objects.get(name=LEASE_NAME).done_for is None


def test_failed_jobs_are_retried_only_after_the_back_off(settings: Settings) -> None:
    settings.ON_EVERY_DAY = [f"{HERE}.record_run", f"{HERE}.fail"]
    run_daily_if_due("one")
    run_daily_if_due("one")
    run_daily_if_due("another")
    assert run_count() == 1
    Lease.objects.update(until=timezone.now() - timedelta(seconds=1))
    run_daily_if_due("one")
    assert run_count() == 2


def test_command_can_run_again_before_workers_and_lists_failed_jobs(settings: Settings) -> None:
    for _ in range(2):
        call_command("run_daily")
    assert run_daily_if_due("one") is False
    assert run_count() == 2
    settings.ON_EVERY_DAY = [f"{HERE}.fail"]
    with pytest.raises(CommandError, match=f"{HERE}.fail"):
        call_command("run_daily")


def test_every_job_in_the_settings_runs() -> None:
    from config import settings as product_settings
    from runtime.jobs.daily import run_daily

    assert product_settings.ON_EVERY_DAY
    run_daily()
