"""Settings → Profile → Preferences, and dates and times as pages show them."""

from datetime import UTC, date, datetime

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.template import engines
from django.test import Client
from django.utils import timezone

from accounts.date_display import (
    DateDisplay,
    DateFormat,
    LocalDateTimeField,
    current_zone,
    date_format,
    exact_time,
    find_zone,
    use_date_display,
    zone_choices,
)
from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from accounts.team import invite_member
from runtime.models import Mail

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

NOON = datetime(2026, 11, 20, 12, 0, 5, tzinfo=UTC)
PREFERENCES = {"theme": "", "time_zone": "", "date_format": "dmy"}


def save(browser: Client, **preferences: str) -> str:
    data = {**PREFERENCES, **preferences}
    response = browser.post("/accounts/profile/preferences/", data, follow=True)
    return response.content.decode()


def test_chosen_theme_is_an_attribute_of_every_page(browser: Client) -> None:
    theme = "dark"
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


def test_unknown_preference_is_refused(browser: Client, owner: User) -> None:
    for name, value in {"theme": "sepia", "time_zone": "Mars/Olympus", "date_format": "?"}.items():
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


EVENING = datetime(2026, 11, 23, 18, 30, 5, tzinfo=UTC)


@pytest.mark.parametrize("choice", DateFormat)
def test_label_of_each_format_is_an_example_of_it(choice: DateFormat) -> None:
    with use_date_display(DateDisplay(UTC, choice)):
        assert date_format(EVENING, "DATETIME_FORMAT") == choice.label


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "23 Nov 2026, 18:30:05 UTC"),
        ("Europe/London", "23 Nov 2026, 18:30:05 UTC"),
        ("Europe/Berlin", "23 Nov 2026, 19:30:05 UTC+1"),
        ("America/Sao_Paulo", "23 Nov 2026, 15:30:05 UTC-3"),
        ("Asia/Kolkata", "24 Nov 2026, 00:00:05 UTC+5:30"),
        ("Pacific/Marquesas", "23 Nov 2026, 09:00:05 UTC-9:30"),
    ],
)
def test_exact_time_has_the_offset_of_its_zone(zone: str, shown: str) -> None:
    with use_date_display(DateDisplay(find_zone(zone))):
        assert exact_time(EVENING) == shown


def test_entered_time_is_in_the_zone() -> None:
    field, entered = LocalDateTimeField(), "2026-11-24T00:00"
    with use_date_display(DateDisplay(find_zone("Asia/Kolkata"))):
        moment = field.clean(entered)
        assert moment == datetime(2026, 11, 23, 18, 30, tzinfo=UTC)
        assert field.prepare_value(moment) == entered
        with pytest.raises(ValidationError):
            field.clean("0001-01-01T00:00")


def test_display_ends_with_its_request() -> None:
    with use_date_display(DateDisplay(find_zone("Asia/Kolkata"))):
        assert str(current_zone()) == "Asia/Kolkata"
    assert current_zone() == UTC


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "Mars/Olympus", "a/" * 5_000, "\0/"])
def test_unknown_zone_is_utc(name: str) -> None:
    assert find_zone(name) == UTC


def test_every_choice_is_a_zone() -> None:
    names = [name for name, _ in zone_choices()]
    assert names[0] == "UTC"
    assert {"Europe/Berlin", "America/New_York", "Asia/Kolkata"} < set(names)
    assert all(str(find_zone(name)) == name for name in names)


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ("day|date", "Nov 23, 2026"),
        ("at|date", "Nov 24, 2026"),
        ('at|date:"DATETIME_FORMAT"', "Nov 24, 2026, 12:00 AM"),
        ('day|date:"MONTH_DAY_FORMAT"', "Nov 23"),
        # Formats with a pattern of their own don't depend on the user.
        ('day|date:"F Y"', "November 2026"),
        ('at|date:"Y-m-d H:i"', "2026-11-23 18:30"),
        ("nothing|date", ""),
    ],
)
def test_templates_use_the_format_of_the_user(filters: str, shown: str) -> None:
    template = engines["django"].from_string(f"{{{{ {filters} }}}}")
    with use_date_display(DateDisplay(find_zone("Asia/Kolkata"), DateFormat.MONTH_FIRST)):
        text = template.render({"day": date(2026, 11, 23), "at": EVENING, "nothing": None})
    assert text == shown


def test_the_present_moment_was_just_now() -> None:
    template = engines["django"].from_string("Paid {% ago at %}.")
    assert ">just now</time>." in template.render({"at": timezone.now()})
