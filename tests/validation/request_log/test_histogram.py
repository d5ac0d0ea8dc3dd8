"""The chart above the request log: how time is cut into bars, and what each one counts."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from accounts.models import Account, User
from apikeys.models import ApiKey
from tests.validation.reports.usage_data import add_log_entry, add_refusal
from validation.request_log import histogram
from validation.request_log.filters import LogFilter
from validation.request_log.histogram import MAX_BARS, Histogram, count_requests, cut_bars

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.mark.anywhere
@pytest.mark.parametrize(
    ("length", "step"),
    [
        (timedelta(minutes=1), MINUTE),
        (timedelta(hours=1), MINUTE),
        (timedelta(days=1), timedelta(minutes=30)),
        (timedelta(days=7), timedelta(hours=3)),
        (timedelta(days=30), timedelta(hours=12)),
        (timedelta(days=365), timedelta(days=7)),
        (timedelta(days=3650), timedelta(days=84)),
    ],
)
def test_bars_are_at_most_62_and_cover_the_range(length: timedelta, step: timedelta) -> None:
    start, end = NOON + timedelta(seconds=7), NOON + timedelta(seconds=7) + length
    bars = cut_bars(start, end, UTC)
    assert len(bars) <= MAX_BARS + 1
    assert {stop - first for first, stop in bars} == {step}
    assert all(before[1] == after[0] for before, after in pairwise(bars))
    assert bars[0][0] <= start < bars[0][1]
    assert bars[-1][0] < end <= bars[-1][1]


@pytest.mark.anywhere
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/St_Johns"])
def test_bars_of_half_a_day_start_at_midnight_and_noon_of_the_viewer(zone: str) -> None:
    bars = cut_bars(NOON - timedelta(days=10), NOON + timedelta(days=16), ZoneInfo(zone))
    times = {f"{start.astimezone(ZoneInfo(zone)):%H:%M}" for start, _ in bars}
    assert times == {"00:00", "12:00"}


@pytest.fixture
def now(account: Account, key: ApiKey) -> datetime:
    """The end of a log of an hour, with requests of every outcome."""
    now = timezone.now().replace(second=0, microsecond=0)
    for minutes in (1, 2, 2, 50):
        add_log_entry(account, now - minutes * MINUTE, "a@shop.example", key=key)
    add_log_entry(account, now - 3 * MINUTE, reason="mailbox_accepted")
    add_log_entry(account, now - 4 * MINUTE, verdict="risky", reason="role_account", key=key)
    add_log_entry(account, now - 5 * MINUTE, verdict="undeliverable", reason="null_mx")
    add_log_entry(account, now - 6 * MINUTE, verdict="unknown", reason="dns_timeout")
    add_refusal(account, now - 7 * MINUTE, 402, "insufficient_credits", key=key)
    add_refusal(account, now - 8 * MINUTE, 200, "", path="/v1/me")
    add_log_entry(account, now - timedelta(days=2), verdict="risky", reason="disposable")
    return now


def count(account: Account, now: datetime, **query: str) -> Histogram:
    form = LogFilter({"since": f"{now - timedelta(hours=1)}", **query}, account)
    assert form.is_valid()
    return count_requests(form, now, UTC)


ALL = Counter(deliverable=5, risky=1, undeliverable=1, unknown=1, refused=1, other=1)


def test_each_request_counts_once_by_its_outcome(account: Account, now: datetime) -> None:
    for query, total in (
        (dict[str, str](), ALL),
        ({"verdict": "risky"}, Counter(risky=1)),
        ({"verdict": "deliverable"}, Counter(deliverable=5)),
        ({"status": "refused"}, Counter(refused=1)),
        ({"verdict": "risky", "status": "refused"}, Counter()),
        ({"status": "200"}, ALL - Counter(refused=1)),
        ({"reason": "null_mx"}, Counter(undeliverable=1)),
        ({"key": "playground"}, Counter(deliverable=1, undeliverable=1, unknown=1, other=1)),
        ({"domain": "nowhere.example"}, Counter()),
    ):
        counted = count(account, now, **query)
        assert +counted.total == total, query
        assert counted.counted_back_to is None


@pytest.mark.parametrize("query", [{}, {"status": "200"}], ids=["in indexes", "in rows"])
def test_request_is_in_the_bar_of_its_time(
    account: Account, now: datetime, query: dict[str, str]
) -> None:
    counted = count(account, now, **query)
    starts = {
        start: counts["deliverable"]
        for (start, _), counts in zip(counted.bars, counted.counts, strict=True)
        if counts["deliverable"]
    }
    ages = {1: 1, 2: 2, 3: 1, 50: 1}
    assert starts == {now - minutes * MINUTE: number for minutes, number in ages.items()}


def test_key_counts_its_own_requests(account: Account, key: ApiKey, now: datetime) -> None:
    assert count(account, now, key=key.public_id).total == Counter(
        deliverable=4, risky=1, refused=1
    )


def test_bars_at_the_ends_count_only_the_range(account: Account, now: datetime) -> None:
    add_log_entry(account, now - timedelta(hours=1, seconds=10))
    start, end = now - timedelta(hours=1), now - 2 * MINUTE
    assert count(account, now, since=f"{start}", until=f"{end}").total.total() == 7
    assert count(account, now, since=f"{start - MINUTE}", until=f"{end}").total.total() == 8


def test_limited_count_says_how_far_back_it_went(
    account: Account, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(histogram, "READ_LIMIT", 3)
    counted = count(account, now, domain="shop.example")
    assert counted.total.total() == 3
    assert counted.counted_back_to == now - 2 * MINUTE


@pytest.mark.parametrize("query", [{}, {"status": "200"}], ids=["in indexes", "in rows"])
def test_requests_of_other_accounts_are_not_counted(
    now: datetime, stranger: User, query: dict[str, str]
) -> None:
    other = stranger.memberships.get().account
    add_log_entry(other, now - MINUTE)
    assert count(other, now, **query).total.total() == 1


@pytest.mark.parametrize("days", [-400, 400, 2_000_000])
def test_range_without_requests_has_empty_bars(account: Account, now: datetime, days: int) -> None:
    since = now + timedelta(days=days)
    counted = count(account, now, since=f"{since}", until=f"{since + MINUTE}")
    assert counted.total.total() == 0
    assert counted.bars
