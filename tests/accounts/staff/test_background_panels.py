"""The admin's front page tells whether the day's work was done, and whether mails go out."""

from datetime import datetime, timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from runtime.mail import outbox
from runtime.models import Lease, Mail
from tests.accounts.staff.people import at, front, panel
from tests.conftest import signed_in
from tests.support.frozen_minute import freeze_time_but_not_processes

__all__ = ["freeze_time_but_not_processes"]

pytestmark = pytest.mark.django_db

DAILY = "Did the daily work run?"
MAILS = "Do mails go out?"


@pytest.fixture
def boss(staff: User) -> Client:
    return signed_in(staff)


@pytest.mark.parametrize(
    ("days_ago", "hour", "said"),
    [
        (0, 12, "Last done Today"),
        (1, 1, "Last done 19 Nov 2026"),
        (1, 3, "19 Nov 2026: overdue"),
        (4, 1, "16 Nov 2026: overdue"),
        (None, 12, "Never: overdue"),
    ],
)
def test_the_daily_work_is_overdue_two_hours_into_the_next_day(
    staff: User, days_ago: int | None, hour: int, said: str
) -> None:
    now = datetime.fromisoformat(f"2026-11-20T{hour:02}:00:00+00:00")
    if days_ago is not None:
        Lease.objects.create(name="daily", done_for=(now - timedelta(days=days_ago)).date())
    with at(now):
        told = panel(front(signed_in(staff)), DAILY)
    assert said in told
    overdue = "overdue" in said
    assert ("overdue" in told) == overdue
    assert ("manage.py run_worker" in told) == overdue


def test_without_a_scheduler_staff_are_told_to_set_a_timer(
    boss: Client, settings: Settings
) -> None:
    settings.SCHEDULER = False
    Lease.objects.create(name="daily", done_for=(timezone.now() - timedelta(days=3)).date())
    assert "SCHEDULER is off, so a timer of yours" in panel(front(boss), DAILY)


def test_work_that_failed_and_work_at_hand_are_told_apart(boss: Client) -> None:
    Lease.objects.take("daily", "worker", seconds=60)
    assert "Now Running" in panel(front(boss), DAILY)
    Lease.objects.rest("daily", "worker", seconds=60)
    assert "Now Failed, and tries again soon" in panel(front(boss), DAILY)


def test_work_done_by_hand_counts(boss: Client) -> None:
    call_command("run_daily")
    assert "Last done Today" in panel(front(boss), DAILY)


def test_a_mail_that_waits_too_long_betrays_a_dead_worker(boss: Client) -> None:
    mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
    told = panel(front(boss), MAILS)
    assert "Nothing waits too long" in told
    assert "Waiting 1" in told
    Mail.objects.filter(pk=mail.pk).update(next_attempt_at=timezone.now() - timedelta(minutes=9))
    told = panel(front(boss), MAILS)
    assert "a mail is due since 9 minutes ago Start the background worker" in told


def test_mails_that_were_given_up_are_listed_without_their_text(boss: Client) -> None:
    mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="secret", html="secret")
    Mail.objects.filter(pk=mail.pk).update(given_up_at=timezone.now(), last_error="No such user")
    told = panel(front(boss), MAILS)
    assert "jane@shop.example Hello No such user" in told
    assert "Given up 1 When the reason is mended" in told
    assert "secret" not in told
