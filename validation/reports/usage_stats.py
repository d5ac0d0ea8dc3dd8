from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from django.db.models import Sum

from accounts.models import Account
from apikeys.errors import REFUSALS, ApiRefusal
from apikeys.models import ApiKey, RefusalHour
from credits.models.usage import BUCKET_BOUNDS, BUCKETS, Source
from credits.wallet import totals
from credits.wallet.totals import UsageTotal
from validation.reports.date_ranges import DateRange, Unit

# From the bottom of a bar.
STACK_ORDER = ("deliverable", "risky", "undeliverable", "unknown")


@dataclass
class UsageStats:
    of: date | ApiKey | None = None
    source: Source | None = None
    calls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STACK_ORDER, 0))
    credits: int = 0
    histogram: list[int] = field(default_factory=lambda: [0] * len(BUCKETS))

    def add(self, used: UsageTotal) -> None:
        self.calls[used.verdict] += used.calls
        self.credits += used.credits
        for bucket, calls in enumerate(used.histogram):
            self.histogram[bucket] += calls

    @property
    def requests(self) -> int:
        return sum(self.calls.values())

    @property
    def shares(self) -> list[tuple[str, int, float]]:
        total = self.requests or 1
        return [(verdict, calls, 100 * calls / total) for verdict, calls in self.calls.items()]

    @property
    def p50(self) -> str:
        return format_percentile(self.histogram, 0.5)

    @property
    def p95(self) -> str:
        return format_percentile(self.histogram, 0.95)


def format_percentile(histogram: Sequence[int], share: float) -> str:
    """Return a text such as `19 ms`. Assumes that calls are spread evenly within a bucket."""
    if not any(histogram):
        return "no calls"
    remaining, lower = share * sum(histogram), 0
    for bound, calls in zip(BUCKET_BOUNDS, histogram, strict=False):
        if calls and calls >= remaining:
            milliseconds = lower + (bound - lower) * remaining / calls
            return f"{max(1, round(milliseconds)):,} ms"
        remaining -= calls
        lower = bound
    return f"over {lower:,} ms"


def sum_stats(parts: Iterable[UsageStats], of: date | ApiKey | None = None) -> UsageStats:
    total = UsageStats(of)
    for part in parts:
        for verdict, calls in part.calls.items():
            total.calls[verdict] += calls
        total.credits += part.credits
        total.histogram = [a + b for a, b in zip(total.histogram, part.histogram, strict=True)]
    return total


def read_usage(
    account: Account, date_range: DateRange, *groups: str, **key_filter: object
) -> Iterator[UsageTotal]:
    if date_range.unit == Unit.HOUR:
        return totals.hourly_usage(account, date_range.start, date_range.end, *groups, **key_filter)
    return totals.daily_usage(account, date_range.first, date_range.last, *groups, **key_filter)


def by_interval(
    account: Account, date_range: DateRange, **key_filter: object
) -> dict[Source, list[UsageStats]]:
    stats = {
        source: {interval: UsageStats(interval, source) for interval in date_range.intervals}
        for source in Source
    }
    for used in read_usage(account, date_range, date_range.unit, **key_filter):
        stats[used.source][used.of].add(used)
    return {source: list(by_date.values()) for source, by_date in stats.items()}


def add_sources(
    stats: Mapping[Source, Sequence[UsageStats]], sources: Iterable[Source]
) -> list[UsageStats]:
    """Return the stats of each interval, of these sources together."""
    series = (stats[source] for source in sources)
    return [sum_stats(parts, parts[0].of) for parts in zip(*series, strict=True)]


def by_key(account: Account, date_range: DateRange, **key_filter: object) -> list[UsageStats]:
    """Return stats by key and source, most used first. Without a key, `of` is None."""
    groups: dict[tuple[int | None, Source], UsageStats] = {}
    for used in read_usage(account, date_range, "key", **key_filter):
        groups.setdefault((used.of, used.source), UsageStats(source=used.source)).add(used)
    keys = load_keys(account, (key_id for key_id, _ in groups))
    for (key_id, _), stats in groups.items():
        stats.of = keys.get(key_id or 0)
    return sorted(groups.values(), key=lambda stats: -stats.requests)


def load_keys(account: Account, key_ids: Iterable[int | None]) -> dict[int, ApiKey]:
    return account.api_keys.in_bulk({key_id for key_id in key_ids if key_id})


def count_refusals(
    account: Account, date_range: DateRange, **key_filter: object
) -> list[tuple[str, ApiRefusal, int]]:
    """Return the code, the refusal and the number of requests, the most frequent first."""
    hours = RefusalHour.objects.filter(
        account=account, hour__gte=date_range.start, hour__lt=date_range.end, **key_filter
    )
    rows = hours.values_list("code").annotate(calls=Sum("calls")).order_by("-calls", "code")
    return [(code, REFUSALS[code], calls) for code, calls in rows if code in REFUSALS]
