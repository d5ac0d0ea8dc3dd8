"""What an account used, summed up for the pages: by piece of time, by key, and altogether."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Sum as SumOf

from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey, RefusalHour
from credits import latency
from credits.wallet import totals
from credits.wallet.totals import Used
from validation.reports.charts import LAYERS
from validation.reports.date_ranges import DateRange, Unit


def _no_calls() -> dict[str, int]:
    return dict.fromkeys(LAYERS, 0)


@dataclass
class UsageStats:
    """Of one piece of time, of one key, or of all."""

    of: Any = None
    calls: dict[str, int] = field(default_factory=_no_calls)
    credits: int = 0
    histogram: list[int] = field(default_factory=lambda: [0] * len(latency.BUCKETS))

    def add(self, used: Used) -> None:
        self.calls[used.verdict] += used.calls
        self.credits += used.credits
        # Where there is one.
        for place, calls in enumerate(used.histogram):
            self.histogram[place] += calls

    @property
    def requests(self) -> int:
        return sum(self.calls.values())

    @property
    def shares(self) -> list[tuple[str, int, float]]:
        """Verdict, calls, and how many of a hundred."""
        return [(v, n, 100 * n / (self.requests or 1)) for v, n in self.calls.items()]

    @property
    def median(self) -> str:
        return latency.format_milliseconds(latency.percentile(self.histogram, 0.5))

    @property
    def slow(self) -> str:
        return latency.format_milliseconds(latency.percentile(self.histogram, 0.95))


@dataclass(frozen=True)
class Refused:
    code: str
    calls: int

    @property
    def status(self) -> int:
        return REFUSALS[self.code].status

    @property
    def cure(self) -> str:
        return REFUSALS[self.code].cure


def altogether(parts: Iterable[UsageStats]) -> UsageStats:
    total = UsageStats()
    for part in parts:
        for verdict, calls in part.calls.items():
            total.calls[verdict] += calls
        total.credits += part.credits
        total.histogram = [a + b for a, b in zip(total.histogram, part.histogram, strict=True)]
    return total


def by_piece(account: Account, span: DateRange, **only: Any) -> list[UsageStats]:
    """One for each piece of the span, also where nothing was used."""
    pieces = {piece: UsageStats(piece) for piece in span.pieces}
    for used in _used(account, span, only):
        pieces[used.of].add(used)
    return list(pieces.values())


def _used(account: Account, span: DateRange, only: dict[str, Any]) -> Iterable[Used]:
    if span.unit == Unit.HOUR:
        return totals.use_by_hour(account, span.start, span.end, **only)
    of_unit = totals.use_by_day if span.unit == Unit.DAY else totals.use_by_month
    return of_unit(account, span.first, span.last, **only)


def by_key(account: Account, span: DateRange, **only: Any) -> list[UsageStats]:
    """Of each that was used, the most used first. None is the playground."""
    found: dict[int | None, UsageStats] = {}
    for used in _used_by_key(account, span, only):
        found.setdefault(used.of, UsageStats()).add(used)
    known = keys_of(account, found)
    for key_id, sums in found.items():
        sums.of = known.get(key_id or 0)
    return sorted(found.values(), key=lambda sums: -sums.requests)


def keys_of(account: Account, key_ids: Iterable[int | None]) -> dict[int, ApiKey]:
    return account.api_keys.in_bulk({key_id for key_id in key_ids if key_id})


def _used_by_key(account: Account, span: DateRange, only: dict[str, Any]) -> Iterator[Used]:
    if span.unit == Unit.HOUR:
        return totals.use_of_hours_by_key(account, span.start, span.end, **only)
    return totals.use_by_key(account, span.first, span.last, **only)


def refusals(account: Account, span: DateRange, **only: Any) -> list[Refused]:
    hours = RefusalHour.objects.filter(
        account=account, hour__gte=span.start, hour__lt=span.end, **only
    )
    sums = hours.values_list("code").annotate(calls=SumOf("calls")).order_by("-calls", "code")
    return [Refused(code, calls) for code, calls in sums if code in REFUSALS]
