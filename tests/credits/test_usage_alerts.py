"""Alerts about unusual usage: which histories cause one, and who gets it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.utils import timezone

from accounts.events.notifications import change_notifications, wanted_types
from accounts.models import Account, Event, User
from accounts.roles import Role
from accounts.services import close_account
from apikeys.models import ApiKey, RefusalHour
from apikeys.models.refusals import RefusalGroup
from apikeys.services import create_key
from credits import usage_alerts
from credits.wallet.totals import roll_up_days
from runtime.models import Mail
from tests.conftest import make_member
from tests.validation.reports.usage_data import add_usage

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 25, 9, 20, tzinfo=UTC)
TODAY, HOUR = "2026-11-25", timedelta(hours=1)
# Enough requests in the days before, one in a hundred of them refused.
USUAL: dict[str, Any] = {"answered_before": 990, "refused_before": 10}


@pytest.fixture(autouse=True)
def _now() -> object:
    with time_machine.travel(NOW, tick=False):
        yield


def bodies() -> list[dict[str, object]]:
    bodies = (
        Event.objects.filter(type="usage.unusual").order_by("pk").values_list("body", flat=True)
    )
    return [json.loads(body)["data"] for body in bodies]


def subjects() -> list[str]:
    return list(
        Mail.objects.filter(subject__startswith="Unusual").values_list("subject", flat=True)
    )


def use(account: Account, today: int, *days_before: int, for_list: bool = False) -> None:
    """Use credits in an hour of each day: 3 means three credits, 0 an unused day."""
    for age, credits in enumerate((today, *days_before)):
        if credits:
            add_usage(account, NOW - timedelta(days=age), credits, for_list=for_list)


@pytest.mark.parametrize(
    ("today", "days_before", "usual"),
    [
        pytest.param(601, [200] * 14, 200, id="more than three times the highest day"),
        pytest.param(600, [200] * 14, None, id="three times the highest day"),
        pytest.param(601, [10, 10, 10, 10, 10, 10, 200], 200, id="seven days of history"),
        pytest.param(9000, [10] * 6, None, id="six days of history"),
        pytest.param(9000, [0, 0, 0, 0, 0, 0, 10], None, id="one day of use, a week ago"),
        pytest.param(501, [1] * 14, 1, id="above the minimum"),
        pytest.param(500, [1] * 14, None, id="the minimum"),
        pytest.param(9000, [0] * 14 + [10] * 14, None, id="used long ago only"),
        pytest.param(601, [1] * 13 + [200], 200, id="highest day two weeks ago"),
        pytest.param(9000, [1] * 13 + [8000], None, id="as on a day two weeks ago"),
        pytest.param(601, [0, 0, 200, 200, 200, 200, 200] * 2, 200, id="idle weekends"),
    ],
)
def test_spend_is_compared_to_the_days_before_also_once_they_are_rolled_up(
    account: Account, today: int, days_before: list[int], usual: int | None
) -> None:
    use(account, today, *days_before)
    since = f"{TODAY}T00:00:00.000Z"
    expected = {"kind": "spend", "key": None, "value": today, "usual": usual, "since": since}
    for _ in range(2):
        Event.objects.all().delete()
        usage_alerts.alert_unusual_spend()
        assert bodies() == ([expected] if usual else [])
        roll_up_days()
    assert subjects() == (["Unusual spend: The Shop"] if usual else []) * 2


def test_spend_of_lists_is_ignored(account: Account) -> None:
    use(account, 100, *[100] * 14)
    use(account, 50_000, for_list=True)
    usage_alerts.alert_unusual_spend()
    assert bodies() == []
    # Nor does it hide an alert.
    use(account, 0, 50_000, for_list=True)
    use(account, 450)
    usage_alerts.alert_unusual_spend()
    assert [body["value"] for body in bodies()] == [550]


def refuse(key: ApiKey, calls: int, at: datetime, code: str = "invalid_field") -> None:
    hour = at.replace(minute=0)
    RefusalHour.objects.add_all({RefusalGroup(key.account_id, key.pk, hour, code): calls})


def call(
    key: ApiKey,
    refused: int = 0,
    answered: int = 0,
    *,
    refused_before: int = 0,
    answered_before: int = 0,
    at: datetime = NOW,
    code: str = "invalid_field",
) -> None:
    """Record requests at this time, and some in the week before the last two hours."""
    for calls, moment in ((refused, at), (refused_before, NOW - 2 * HOUR)):
        if calls:
            refuse(key, calls, moment, code)
    for calls, moment in ((answered, at), (answered_before, NOW - timedelta(days=3))):
        if calls:
            add_usage(key.account, moment, calls, key=key)


@pytest.mark.parametrize(
    ("requests", "value", "usual"),
    [
        pytest.param({"refused": 50, "answered": 10, **USUAL}, 83, 1, id="most are refused"),
        pytest.param({"refused": 50, **USUAL, "at": NOW - HOUR}, 100, 1, id="in the hour before"),
        pytest.param({"refused": 50, **USUAL, "code": "api_key_expired"}, 100, 1, id="expired"),
        pytest.param({"refused": 49, **USUAL}, None, None, id="too few"),
        pytest.param({"refused": 500, "answered": 500, **USUAL}, None, None, id="half"),
        pytest.param({"refused": 501, "answered": 500, **USUAL}, 50, 1, id="more than half"),
        pytest.param({"refused": 90}, None, None, id="new key"),
        pytest.param({"refused": 90, "answered_before": 49}, None, None, id="hardly used before"),
        pytest.param({"refused": 90, "answered_before": 50}, 100, 0, id="used before"),
        pytest.param(
            {"refused": 90, "answered_before": 90, "refused_before": 10}, None, None, id="as usual"
        ),
        pytest.param({"refused": 90, **USUAL, "code": "rate_limit_exceeded"}, None, None, id="429"),
        pytest.param(
            {"refused": 90, **USUAL, "code": "insufficient_credits"}, None, None, id="402"
        ),
        pytest.param({"refused": 90, **USUAL, "code": "service_unavailable"}, None, None, id="503"),
        pytest.param(
            {"refused": 50, "answered_before": 990, "at": NOW - 2 * HOUR}, None, None, id="too old"
        ),
    ],
)
def test_errors_of_a_key_are_compared_to_the_week_before(
    key: ApiKey, requests: dict[str, Any], value: int | None, usual: int | None
) -> None:
    call(key, **requests)
    usage_alerts.alert_unusual_errors()
    since = f"{TODAY}T08:00:00.000Z"
    public_id = key.public_id
    expected = {"kind": "errors", "key": public_id, "value": value, "usual": usual, "since": since}
    assert bodies() == ([expected] if value else [])
    assert len(subjects()) == len(bodies())


def test_each_alert_is_recorded_once_per_day(account: Account, key: ApiKey, owner: User) -> None:
    other, _ = create_key(account=account, name="Other", actor=owner)
    use(account, 7_000, *[1] * 14)
    for each in (key, other):
        call(each, 700, **USUAL)
    for _ in range(2):
        cache.clear()
        usage_alerts.send_due_alerts(is_stopping=lambda: False)
        # Not due.
        usage_alerts.send_due_alerts(is_stopping=lambda: False)
    assert sorted(str(body["key"]) for body in bodies()) == sorted(
        ["None", key.public_id, other.public_id]
    )
    assert len(subjects()) == 3
    with time_machine.travel(NOW + timedelta(days=1), tick=False):
        add_usage(account, timezone.now(), 22_000)
        usage_alerts.alert_unusual_spend()
    assert len(bodies()) == 4


def test_suspended_and_closed_accounts_get_no_alert(
    account: Account, key: ApiKey, owner: User
) -> None:
    use(account, 700, *[1] * 14)
    call(key, 700, **USUAL)
    Account.objects.filter(pk=account.pk).update(suspended_at=NOW)
    usage_alerts.alert_unusual_spend()
    usage_alerts.alert_unusual_errors()
    Account.objects.filter(pk=account.pk).update(suspended_at=None)
    close_account(account=account, actor=owner)
    usage_alerts.alert_unusual_spend()
    usage_alerts.alert_unusual_errors()
    assert bodies() == []


def test_alert_goes_to_owners_admins_and_developers_unless_turned_off(
    account: Account, key: ApiKey, owner: User
) -> None:
    members = {role: make_member(account, role).email for role in Role if role != Role.OWNER}
    Mail.objects.all().delete()
    use(account, 700, *[1] * 14)
    usage_alerts.alert_unusual_spend()
    expected = {owner.email, members[Role.ADMIN], members[Role.DEVELOPER]}
    assert set(Mail.objects.values_list("to", flat=True)) == expected
    call(key, 1_240, 310, **USUAL)
    usage_alerts.alert_unusual_errors()
    mail = Mail.objects.filter(subject="Unusual errors: The Shop").latest("pk")
    for fact in (key.display, "1,240 of 1,550 (80%)", "1%", f"requests/?key={key.public_id}"):
        assert fact in mail.text
    wanted = wanted_types(account) - {"usage.unusual"}
    change_notifications(account=account, wanted=wanted, actor=owner)
    other, _ = create_key(account=account, name="Other", actor=owner)
    Mail.objects.all().delete()
    call(other, 700, **USUAL)
    usage_alerts.alert_unusual_errors()
    assert (len(bodies()), Mail.objects.count()) == (3, 0)


def test_one_query_reads_the_spend_of_all_accounts(
    account: Account, stranger: User, django_assert_num_queries: Any
) -> None:
    for each in (account, Account.objects.get(memberships__user=stranger)):
        use(each, 700, *[600] * 14)
    with django_assert_num_queries(1):
        usage_alerts.alert_unusual_spend()
    with django_assert_num_queries(1):
        usage_alerts.alert_unusual_errors()
