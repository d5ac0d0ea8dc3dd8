"""The panels on the admin's front page about daily jobs, the email queue, and webhooks."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Account, User, WebhookEndpoint
from runtime.mail import outbox
from runtime.models import Lease, Mail
from tests.accounts.staff.staff_pages import (
    client_in_group,
    count_work,
    front_page,
    panel_text,
    travel_to,
)
from tests.accounts.webhooks.deliveries import URL
from tests.accounts.webhooks.factory import make_endpoint
from tests.conftest import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

DAILY_JOBS = "Daily jobs"
EMAILS = "Emails given up"


@pytest.mark.parametrize(
    ("days_ago", "hour", "expected"),
    [
        (0, 12, "Last completed Today"),
        (1, 1, "Last completed 19 Nov 2026"),
        (1, 3, "19 Nov 2026, overdue"),
        (4, 1, "16 Nov 2026, overdue"),
        (None, 12, "Never, overdue"),
    ],
)
def test_daily_jobs_are_overdue_two_hours_into_the_next_day(
    staff: User, days_ago: int | None, hour: int, expected: str
) -> None:
    now = datetime.fromisoformat(f"2026-11-20T{hour:02}:00:00+00:00")
    if days_ago is not None:
        Lease.objects.create(name="daily", done_for=(now - timedelta(days=days_ago)).date())
    with travel_to(now):
        text = panel_text(front_page(signed_in(staff)), DAILY_JOBS)
    assert expected in text
    overdue = "overdue" in expected
    assert ("overdue" in text) == overdue
    assert ("manage.py run_worker" in text) == overdue


def test_panel_distinguishes_running_from_failed_jobs(staff_client: Client) -> None:
    Lease.objects.acquire("daily", "worker", day=timezone.now().date(), seconds=60)
    assert "Status Running" in panel_text(front_page(staff_client), DAILY_JOBS)
    Lease.objects.back_off("daily", "worker", seconds=60)
    assert "Status Failed, will be retried soon" in panel_text(front_page(staff_client), DAILY_JOBS)


def test_late_email_is_reported_as_a_stopped_worker(staff_client: Client) -> None:
    mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
    text = panel_text(front_page(staff_client), EMAILS)
    assert "No overdue emails" in text
    assert "Waiting 1" in text
    Mail.objects.filter(pk=mail.pk).update(next_attempt_at=timezone.now() - timedelta(minutes=9))
    text = panel_text(front_page(staff_client), EMAILS)
    assert "oldest overdue email 9 minutes ago Start the background worker" in text


def test_given_up_emails_are_listed_without_their_text(staff_client: Client) -> None:
    mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="secret", html="secret")
    Mail.objects.filter(pk=mail.pk).update(given_up_at=timezone.now(), last_error="No such user")
    text = panel_text(front_page(staff_client), EMAILS)
    assert "jane@shop.example Hello No such user" in text
    assert "Given up 1 Fix the error" in text
    assert "secret" not in text


def test_staff_see_failing_endpoints_without_the_path(account: Account) -> None:
    endpoint = make_endpoint(account, URL)
    staff = client_in_group("Support")
    assert count_work(front_page(staff), "Failing webhooks") == "0"
    failing = {"failing_since": timezone.now() - timedelta(days=2), "failures": 1234}
    WebhookEndpoint.objects.update(**failing)
    path = f"/admin/customers/{account.public_id}/?tab=keys-and-webhooks"
    page = staff.get(path).content.decode()
    for panel in (panel_text(front_page(staff), "Failing webhooks"), panel_text(page, "Webhooks")):
        assert f"shop.example ({endpoint.public_id}) Failing" in panel
        assert "1,234" in panel
        assert "/webhooks" not in panel
    WebhookEndpoint.objects.update(disabled_at=timezone.now(), disabled_reason="gone")
    assert "410 Gone" in panel_text(front_page(staff), "Failing webhooks")
