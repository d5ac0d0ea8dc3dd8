"""Sum an account's usage by interval, by key, and in total."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

from django.db.models import Sum

from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey, RefusalHour
from credits import latency
from credits.wallet import totals
from credits.wallet.totals import UsageTotal
from validation.reports.charts import STACK_ORDER
from validation.reports.date_ranges import DateRange, Unit


def _no_calls() -> dict[str, int]:
    return dict.fromkeys(STACK_ORDER, 0)


@dataclass
class UsageStats:
    # The interval or the API key. None for a total and for the playground.
    of: date | ApiKey | None = None
    calls: dict[str, int] = field(default_factory=_no_calls)
    credits: int = 0
    histogram: list[int] = field(default_factory=lambda: [0] * len(latency.BUCKETS))

    def add(self, used: UsageTotal[object]) -> None:
        self.calls[used.verdict] += used.calls
        self.credits += used.credits
        # Empty for queries that don't load the histogram.
        for bucket, calls in enumerate(used.histogram):
            self.histogram[bucket] += calls

    @property
    def requests(self) -> int:
        return sum(self.calls.values())

    @property
    def shares(self) -> list[tuple[str, int, float]]:
        """Return each verdict with its calls and their percentage."""
        total = self.requests or 1
        return [(verdict, calls, 100 * calls / total) for verdict, calls in self.calls.items()]

    @property
    def p50(self) -> str:
        return latency.format_milliseconds(latency.percentile(self.histogram, 0.5))

    @property
    def p95(self) -> str:
        return latency.format_milliseconds(latency.percentile(self.histogram, 0.95))


@dataclass(frozen=True)
class RefusalCount:
    code: str
    calls: int

    @property
    def status(self) -> int:
        return REFUSALS[self.code].status

    @property
    def cure(self) -> str:
        return REFUSALS[self.code].cure


def sum_stats(parts: Iterable[UsageStats]) -> UsageStats:
    total = UsageStats()
    for part in parts:
        for verdict, calls in part.calls.items():
            total.calls[verdict] += calls
        total.credits += part.credits
        total.histogram = [a + b for a, b in zip(total.histogram, part.histogram, strict=True)]
    return total


def by_interval(account: Account, date_range: DateRange, **key_filter: object) -> list[UsageStats]:
    """Return the stats of each interval, including those without usage."""
    stats = {interval: UsageStats(interval) for interval in date_range.intervals}
    for used in _load_usage(account, date_range, key_filter):
        stats[used.of].add(used)
    return list(stats.values())


def _load_usage(
    account: Account, date_range: DateRange, key_filter: dict[str, object]
) -> Iterable[UsageTotal[date]]:
    if date_range.unit == Unit.HOUR:
        return totals.usage_by_hour(account, date_range.start, date_range.end, **key_filter)
    usage_by_unit = totals.usage_by_day if date_range.unit == Unit.DAY else totals.usage_by_month
    return usage_by_unit(account, date_range.first, date_range.last, **key_filter)


def by_key(account: Account, date_range: DateRange, **key_filter: object) -> list[UsageStats]:
    """Return the stats of each used key, most used first. `of` is None for the playground."""
    stats_by_id: dict[int | None, UsageStats] = {}
    for used in _load_usage_by_key(account, date_range, key_filter):
        stats_by_id.setdefault(used.of, UsageStats()).add(used)
    keys = load_keys(account, stats_by_id)
    for key_id, stats in stats_by_id.items():
        stats.of = keys.get(key_id or 0)
    return sorted(stats_by_id.values(), key=lambda stats: -stats.requests)


def load_keys(account: Account, key_ids: Iterable[int | None]) -> dict[int, ApiKey]:
    return account.api_keys.in_bulk({key_id for key_id in key_ids if key_id})


def _load_usage_by_key(
    account: Account, date_range: DateRange, key_filter: dict[str, object]
) -> Iterator[UsageTotal[int | None]]:
    if date_range.unit == Unit.HOUR:
        return totals.usage_by_key_between(account, date_range.start, date_range.end, **key_filter)
    return totals.usage_by_key(account, date_range.first, date_range.last, **key_filter)


def count_refusals(
    account: Account, date_range: DateRange, **key_filter: object
) -> list[RefusalCount]:
    hours = RefusalHour.objects.filter(
        account=account, hour__gte=date_range.start, hour__lt=date_range.end, **key_filter
    )
    rows = hours.values_list("code").annotate(calls=Sum("calls")).order_by("-calls", "code")
    return [RefusalCount(code, calls) for code, calls in rows if code in REFUSALS]
