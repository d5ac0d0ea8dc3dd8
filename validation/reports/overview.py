from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from accounts.models import Account
from apikeys.errors import REFUSALS, ApiRefusal
from apikeys.models import ApiKey, RefusalHour
from credits.models import UseDay, UseHour
from credits.models.usage import Source
from runtime.dates import midnight
from validation.models import LogEntry
from validation.reports.date_ranges import DAY, HOUR, DateRange, last_days, last_hours
from validation.reports.usage_stats import (
    UsageStats,
    add_sources,
    by_interval,
    count_refusals,
    sum_stats,
)
from validation.request_log.search import latest_entries

WEEK, MONTH = 7, 30
MAX_CALL_DURATION = timedelta(seconds=8)
LATEST_COUNT = 8


@dataclass(frozen=True)
class Overview:
    date_range: DateRange
    hours: list[UsageStats]
    days: list[UsageStats]
    # The 30 days before.
    previous: list[UsageStats]
    balances: list[int]
    # Of all sources.
    credits_used: int
    refused: list[tuple[str, ApiRefusal, int]]
    latest: list[LogEntry]

    @property
    def week(self) -> UsageStats:
        return sum_stats(self.days[-WEEK:])

    @property
    def month(self) -> UsageStats:
        return sum_stats(self.days)

    @property
    def change(self) -> int | None:
        before = sum_stats(self.days[-2 * WEEK : -WEEK]).requests
        return round(100 * (self.week.requests - before) / before) if before else None


@dataclass(frozen=True)
class Arrival:
    """Describes a request. Without a log entry, only its refusal or its key's use is known."""

    entry: LogEntry | None = None
    refusal: str = ""

    @property
    def status(self) -> int:
        if self.entry:
            return self.entry.status
        return REFUSALS[self.refusal].status if self.refusal else 200

    @property
    def code(self) -> str:
        return self.entry.refusal if self.entry else self.refusal


def has_usage(account: Account) -> bool:
    return (
        UseHour.objects.filter(account=account).exists()
        or UseDay.objects.filter(account=account).exists()
    )


def has_sent_requests(account: Account) -> bool:
    return (
        account.api_keys.filter(last_used_at__isnull=False).exists()
        or RefusalHour.objects.filter(account=account).exists()
    )


def has_results(account: Account) -> bool:
    entries = LogEntry.objects.retained_for(account)
    if entries.exclude(verdict="").exists():
        return True
    # An account that stores no requests only counts refusals.
    refusals = RefusalHour.objects.filter(account=account)
    is_unlogged = not account.log_retention_days and not refusals.exists()
    return is_unlogged and has_sent_requests(account)


def find_arrival(account: Account, key: ApiKey | None, now: datetime) -> Arrival | None:
    """Return the latest request of the last 24 hours, with any key if `key` is None."""
    key_filter = {"key": key} if key else {}
    entries = LogEntry.objects.retained_for(account).filter(at__gte=now - DAY, **key_filter)
    entry = entries.order_by("-at").first()
    if entry:
        return Arrival(entry)
    hours = RefusalHour.objects.filter(account=account, hour__gte=now - HOUR, **key_filter)
    refusal = hours.order_by("-hour", "-pk").first()
    if refusal and refusal.code in REFUSALS:
        return Arrival(None, refusal.code)
    keys = ApiKey.objects.filter(pk=key.pk) if key else account.api_keys.all()
    # A key's use is recorded first, so a request may still be in progress.
    return Arrival() if keys.filter(last_used_at__lt=now - MAX_CALL_DURATION).exists() else None


def build_overview(account: Account, now: datetime, sources: Sequence[Source]) -> Overview:
    stats = by_interval(account, last_days(now, 2 * MONTH))
    of_all = add_sources(stats, Source)[MONTH:]
    days, month = add_sources(stats, sources), last_days(now, MONTH)
    return Overview(
        month,
        add_sources(by_interval(account, last_hours(now, 24)), sources),
        days[MONTH:],
        days[:MONTH],
        _find_balances(account, month.first, of_all),
        sum_stats(of_all).credits,
        count_refusals(account, last_days(now, WEEK)),
        latest_entries(account, LATEST_COUNT),
    )


def _find_balances(account: Account, first: date, days: Sequence[UsageStats]) -> list[int]:
    """Return the balance after each day, from the one now."""
    changes = Counter({day.of: -day.credits for day in days})
    for at, amount in account.ledger.filter(at__gte=midnight(first)).values_list("at", "amount"):
        changes[at.date()] += amount
    later = (sum(changes[day.of] for day in days[count:]) for count in range(1, len(days) + 1))
    return [account.wallet.owned - change for change in later]
