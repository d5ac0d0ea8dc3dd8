"""Settings → Profile → Preferences."""

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.conf import settings
from django.test import Client

from accounts.date_display import DateDisplay, DateFormat, find_zone, use_date_display
from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from accounts.team import invite_member
from runtime.models import Mail
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

NOON = datetime(2026, 11, 20, 12, 0, 5, tzinfo=UTC)
PREFERENCES = {"theme": "", "time_zone": "", "date_format": "dmy"}


def save(browser: Client, **preferences: str) -> str:
    data = {**PREFERENCES, **preferences}
    response = browser.post("/accounts/profile/preferences/", data, follow=True)
    return response.content.decode()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_chosen_theme_is_an_attribute_of_every_page(browser: Client, theme: str) -> None:
    save(browser, theme=theme)
    for path in ("/", "/docs/", "/accounts/profile/", "/accounts/terms/"):
        page = browser.get(path).content.decode()
        assert f'<html lang="en" data-theme="{theme}">' in page, path
        assert f'<meta name="color-scheme" content="{theme}">' in page, path


def test_pages_follow_the_system_until_a_theme_is_chosen(browser: Client) -> None:
    for page in (browser.get("/accounts/profile/"), Client().get("/accounts/login/")):
        assert '<html lang="en">' in page.content.decode()
        assert '<meta name="color-scheme" content="light dark">' in page.content.decode()


def test_times_are_in_the_zone_of_the_browser_until_one_is_chosen(
    browser: Client, account: Account
) -> None:
    AuditEntry.objects.create(account=account, actor_name="Olivia", action="user.renamed", at=NOON)
    browser.cookies["timezone"] = "America/New_York"
    assert "Times are in America/New York." in browser.get("/accounts/audit/").content.decode()
    save(browser, time_zone="Asia/Kolkata", date_format="mdy")
    page = browser.get("/accounts/audit/").content.decode()
    assert 'title="Nov 20, 2026, 5:30:05 PM UTC+5:30"' in page
    assert "Times are in Asia/Kolkata." in page


def test_rows_of_the_request_log_are_in_the_chosen_zone(browser: Client, account: Account) -> None:
    LogEntry.objects.create(
        account=account, request_id="req_" + "a" * 20, status=200, duration_ms=1, at=NOON
    )
    save(browser, time_zone="Asia/Kolkata", date_format="mdy")
    # The log shows the last 30 days.
    with time_machine.travel(NOON + timedelta(days=1), tick=False):
        rows = browser.get("/validation/requests/").content.decode()
    assert ">Nov 20, 2026, 5:30:05 PM</time>" in rows
    assert "Times are in Asia/Kolkata." in rows


@pytest.mark.parametrize(
    ("name", "value"), [("theme", "sepia"), ("time_zone", "Mars/Olympus"), ("date_format", "?")]
)
def test_unknown_preference_is_refused(browser: Client, owner: User, name: str, value: str) -> None:
    assert "Select a valid choice" in save(browser, **{name: value})
    owner.refresh_from_db()
    assert getattr(owner, name) != value


def test_dates_without_a_time_are_the_same_in_every_zone(browser: Client, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(terms_version=date(2020, 1, 1))
    save(browser, time_zone="Pacific/Kiritimati", date_format="iso")
    newest = f"Our terms changed on {settings.TERMS_VERSION}."
    assert newest in browser.get("/accounts/profile/").content.decode()


def test_emails_have_the_same_dates_for_all_recipients(owner: User, account: Account) -> None:
    with use_date_display(DateDisplay(find_zone("Asia/Kolkata"), DateFormat.MONTH_FIRST)):
        invitation = invite_member(
            account=account, email="new@shop.example", role=Role.VIEWER, actor=owner
        )
    email = Mail.objects.latest("pk")
    assert f" {invitation.expires_at:%-d %b %Y}." in email.text


def test_staff_pages_have_the_chosen_theme_and_stay_in_utc(
    browser: Client, owner: User, account: Account
) -> None:
    save(browser, time_zone="Asia/Kolkata")
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True, theme="dark")
    Account.objects.filter(pk=account.pk).update(suspended_at=NOON)
    page = browser.get(f"/admin/customers/{account.public_id}/?tab=audit-log").content.decode()
    assert 'title="20 Nov 2026, 12:00:05 UTC"' in page
    assert "theme-dark" in page
