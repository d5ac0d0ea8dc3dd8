"""GET /v1/usage: usage per day."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, User
from apikeys.models import ApiKey
from apikeys.services import create_key
from credits.models import UseDay, UseHour
from credits.wallet.books import find_discrepancies
from credits.wallet.charges import Charge, charge_account
from credits.wallet.totals import credits_used_since, delete_old_hours, hourly_usage, roll_up_days
from runtime.dates import midnight
from tests.credits.time_travel import on
from tests.support.api_client import ApiClient, refusal

pytestmark = pytest.mark.django_db


def add_usage(
    account: Account,
    day: str,
    verdict: str = "risky",
    key: ApiKey | None = None,
    *,
    for_list: bool = False,
) -> None:
    with on(day):
        cost = 0 if verdict == "unknown" else 1
        charge_account(Charge(account, key, verdict, cost, 5, for_list=for_list))


def by_source(**used: tuple[int, int]) -> dict[str, dict[str, int]]:
    counts = {source: used.get(source, (0, 0)) for source in ("api", "playground", "lists")}
    return {
        source: {"requests": requests, "credits": credits}
        for source, (requests, credits) in counts.items()
    }


def test_default_is_the_last_30_days(caller: ApiClient) -> None:
    response = caller.get("/v1/usage").json()
    today = timezone.now().date()
    assert (response["from"], response["to"]) == (str(today - timedelta(days=29)), str(today))
    assert [day["date"] for day in response["days"]] == [
        str(today - timedelta(days=29 - n)) for n in range(30)
    ]
    assert all(day["requests"] == day["credits"] == 0 for day in response["days"])


def test_calls_are_counted_by_day_and_verdict(caller: ApiClient, account: Account) -> None:
    for verdict in ("risky", "risky", "unknown", "deliverable"):
        add_usage(account, "2026-11-20", verdict)
    add_usage(account, "2026-11-21", "undeliverable")
    response = caller.get("/v1/usage?from=2026-11-20&to=2026-11-21").json()
    assert response["days"] == [
        {
            "date": "2026-11-20",
            "requests": 4,
            "credits": 3,
            "deliverable": 1,
            "risky": 2,
            "undeliverable": 0,
            "unknown": 1,
            "by_source": by_source(playground=(4, 3)),
        },
        {
            "date": "2026-11-21",
            "requests": 1,
            "credits": 1,
            "deliverable": 0,
            "risky": 0,
            "undeliverable": 1,
            "unknown": 0,
            "by_source": by_source(playground=(1, 1)),
        },
    ]


def test_usage_can_be_filtered_by_key(
    caller: ApiClient, account: Account, owner: User, key: ApiKey
) -> None:
    other, _ = create_key(account=account, name="Other", actor=owner)
    add_usage(account, "2026-11-20", key=key)
    add_usage(account, "2026-11-20", key=other)
    add_usage(account, "2026-11-20")
    path = "/v1/usage?from=2026-11-20&to=2026-11-20"
    assert caller.get(path).json()["days"][0]["requests"] == 3
    assert caller.get(f"{path}&key={other.public_id}").json()["days"][0]["requests"] == 1


@pytest.mark.parametrize(
    ("query", "requests", "credits"),
    [*(("", 5, 4), ("&source=api", 1, 1), ("&source=playground", 1, 1)), ("&source=lists", 3, 2)],
)
def test_usage_can_be_filtered_by_source(
    caller: ApiClient, account: Account, key: ApiKey, query: str, requests: int, credits: int
) -> None:
    """Lists count neither as the API of the key that started them nor as the playground."""
    for started_by in (key, None):
        add_usage(account, "2026-11-20", key=started_by)
        add_usage(account, "2026-11-20", key=started_by, for_list=True)
    add_usage(account, "2026-11-20", "unknown", for_list=True)
    for _ in range(2):
        path = f"/v1/usage?from=2026-11-20&to=2026-11-20{query}"
        (day,) = caller.get(path).json()["days"]
        assert (day["requests"], day["credits"]) == (requests, credits)
        assert day["risky"] + day["unknown"] == requests
        assert day["by_source"] == by_source(api=(1, 1), playground=(1, 1), lists=(3, 2))
        with on("2026-11-21"):
            roll_up_days()


def test_finished_day_is_rolled_up_and_its_hours_stay(
    caller: ApiClient, account: Account, key: ApiKey
) -> None:
    for verdict in ("risky", "risky", "unknown"):
        add_usage(account, "2026-11-19", verdict, key)
    add_usage(account, "2026-11-20")
    path = "/v1/usage?from=2026-11-19&to=2026-11-20"
    before = caller.get(path).json()
    with on("2026-11-20", hour=12):
        roll_up_days()
        roll_up_days()
    assert (UseDay.objects.count(), UseHour.objects.open().count()) == (2, 1)
    assert caller.get(path).json() == before
    start, end = (midnight(date(2026, 11, day)) for day in (19, 21))
    hours = hourly_usage(account, start, end, "hour")
    assert sum(hour.calls for hour in hours) == 4
    assert credits_used_since(account, datetime(2026, 11, 19, 9, tzinfo=UTC)) == 3
    assert credits_used_since(account, datetime(2026, 11, 19, 10, tzinfo=UTC)) == 1
    assert not list(find_discrepancies())


def test_late_usage_of_a_day_that_is_rolled_up_counts_once(
    caller: ApiClient, account: Account, key: ApiKey
) -> None:
    add_usage(account, "2026-11-19", key=key)
    with on("2026-11-20"):
        roll_up_days()
    add_usage(account, "2026-11-19", key=key)
    path = "/v1/usage?from=2026-11-19&to=2026-11-19"
    for _ in range(2):
        assert caller.get(path).json()["days"][0]["requests"] == 2
        assert not list(find_discrepancies())
        with on("2026-11-20"):
            roll_up_days()
    assert UseDay.objects.get().calls == 2


def test_hours_are_deleted_after_13_months_and_totals_stay(
    caller: ApiClient, account: Account, key: ApiKey
) -> None:
    for verdict in ("risky", "risky", "unknown"):
        add_usage(account, "2025-10-01", verdict, key)
    add_usage(account, "2025-10-01")
    add_usage(account, "2026-11-20")
    before = caller.get("/v1/usage?from=2025-09-01&to=2025-11-01").json()
    with on("2026-11-21"):
        delete_old_hours()
        for _ in range(2):
            roll_up_days()
            delete_old_hours()
    assert caller.get("/v1/usage?from=2025-09-01&to=2025-11-01").json() == before
    assert (UseHour.objects.count(), UseDay.objects.count()) == (1, 4)
    assert UseDay.objects.get(verdict="risky", key=key).up_to_20_ms == 2
    assert not list(find_discrepancies())


@pytest.mark.anywhere
def test_invalid_parameter_is_reported_by_name(caller: ApiClient) -> None:
    for query in (
        *("from=yesterday", "to=2026-13-01", "to=2026-02-30", "from=20261120", "from=2026-W47-5"),
        *("from=0001-01-01", "from=", "from=2026-11-20T00:00", "to=9999-12-31"),
        *("from=2026-11-21&to=2026-11-20", "from=2025-01-01&to=2026-11-20"),
        *("from=2026-11-01&from=2026-11-02", "key=a%00b", "key=", "key=key_00000000000000000000"),
        *("from=%D9%A22026-11-20", "source=batch", "source="),
    ):
        response = caller.get(f"/v1/usage?{query}")
        assert refusal(response) == (400, "invalid_field", query.partition("=")[0]), query


def test_366_days_are_allowed_and_future_days_are_empty(caller: ApiClient) -> None:
    for query in ("from=2025-11-20&to=2026-11-20", "to=2099-12-31"):
        assert caller.get(f"/v1/usage?{query}").status_code == 200


def test_another_accounts_key_is_not_found(caller: ApiClient, stranger: User) -> None:
    theirs = Account.objects.get(memberships__user=stranger)
    key, _ = create_key(account=theirs, name="Theirs", actor=stranger)
    assert caller.get(f"/v1/usage?key={key.public_id}").status_code == 400
