"""The background worker's rounds: the schedule under its lease, and what failures leave behind."""

from datetime import timedelta

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEntry
from runtime.jobs.daily import NAME, run_daily_if_due
from runtime.models import Lease

pytestmark = pytest.mark.django_db

HERE = "tests.runtime.jobs.test_run_worker"


def note() -> None:
    AuditEntry.objects.create(action="test.worked")


def fail() -> None:
    raise RuntimeError("this job always fails")


def times_worked() -> int:
    return AuditEntry.objects.filter(action="test.worked").count()


@pytest.fixture(autouse=True)
def _jobs(settings: Settings) -> None:
    settings.ON_EVERY_DAY = [f"{HERE}.note"]


def test_the_days_work_is_done_once_whoever_asks() -> None:
    assert run_daily_if_due("one") is True
    assert run_daily_if_due("one") is False
    assert run_daily_if_due("another") is False
    assert times_worked() == 1


def test_it_is_done_again_the_next_day_and_after_days_that_were_missed() -> None:
    run_daily_if_due("one")
    Lease.objects.update(done_for=timezone.now().date() - timedelta(days=5))
    run_daily_if_due("one")
    assert times_worked() == 2


def test_a_day_that_was_done_by_hand_is_not_done_again() -> None:
    call_command("run_daily")
    assert run_daily_if_due("one") is False
    assert times_worked() == 1


def test_while_one_worker_works_another_does_not() -> None:
    Lease.objects.take(NAME, "one", seconds=60)
    assert run_daily_if_due("another") is False
    assert times_worked() == 0


def test_the_work_of_a_worker_that_died_is_taken_over() -> None:
    Lease.objects.take(NAME, "one", seconds=60)
    Lease.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert run_daily_if_due("another") is True


AHEAD = timedelta(days=120)


def test_work_goes_on_after_the_clock_was_months_ahead() -> None:
    with time_machine.travel(timezone.now() + AHEAD):
        assert run_daily_if_due("one") is True
    assert run_daily_if_due("one") is True
    assert run_daily_if_due("one") is False
    assert times_worked() == 2


def test_a_lease_that_was_taken_while_the_clock_was_ahead_holds_up_no_other() -> None:
    with time_machine.travel(timezone.now() + AHEAD):
        Lease.objects.take(NAME, "one", seconds=3600)
    assert run_daily_if_due("another") is True


def test_a_rest_that_began_while_the_clock_was_ahead_is_over(settings: Settings) -> None:
    settings.ON_EVERY_DAY = [f"{HERE}.fail"]
    with time_machine.travel(timezone.now() + AHEAD):
        run_daily_if_due("one")
    settings.ON_EVERY_DAY = [f"{HERE}.note"]
    assert run_daily_if_due("one") is True


def test_a_job_that_fails_keeps_no_other_from_running(settings: Settings) -> None:
    settings.ON_EVERY_DAY = [f"{HERE}.fail", f"{HERE}.note"]
    assert run_daily_if_due("one") is False
    assert times_worked() == 1
    assert not Lease.objects.is_done_for(NAME, timezone.now().date())


def test_what_failed_is_tried_again_after_a_rest_and_not_at_once(settings: Settings) -> None:
    settings.ON_EVERY_DAY = [f"{HERE}.note", f"{HERE}.fail"]
    run_daily_if_due("one")
    run_daily_if_due("one")
    run_daily_if_due("another")
    assert times_worked() == 1
    Lease.objects.update(until=timezone.now() - timedelta(seconds=1))
    run_daily_if_due("one")
    assert times_worked() == 2


def test_the_command_may_run_any_number_of_times_and_names_what_failed(
    settings: Settings,
) -> None:
    call_command("run_daily")
    call_command("run_daily")
    settings.ON_EVERY_DAY = [f"{HERE}.fail"]
    with pytest.raises(CommandError, match=f"{HERE}.fail"):
        call_command("run_daily")


def test_every_job_named_in_the_settings_exists_and_runs() -> None:
    from config import settings as product_settings
    from runtime.jobs.daily import run_daily

    assert product_settings.ON_EVERY_DAY
    run_daily()
