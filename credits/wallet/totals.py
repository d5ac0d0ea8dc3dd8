from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import DateField, F, Model, Q, QuerySet, Sum
from django.db.models.functions import TruncDate, TruncMonth
from django.utils import timezone

from accounts.models import Account
from credits.models.usage import BUCKETS, COUNTERS, COUNTS, Source, UseDay, UseHour
from runtime.dates import midnight

HOURLY_RETENTION = timedelta(days=396)


class UsageTotal(NamedTuple):
    # A date, an hour, a key's id, or a tuple of them.
    of: Any
    source: Source
    verdict: str
    calls: int
    credits: int
    # Calls in each of BUCKETS. Empty for lists and for usage by key.
    histogram: tuple[int, ...] = ()


def daily_usage(
    account: Account, first: date, last: date, *groups: str, **filters: object
) -> Iterator[UsageTotal]:
    """Yield usage by `day` or `month`, by `key`, or by both. A group can occur repeatedly.

    One statement, because a day can be rolled up between two.
    """
    days = UseDay.objects.filter(account=account, day__range=(first, last), **filters)
    start, end = midnight(first), midnight(last + timedelta(days=1))
    hours = UseHour.objects.open().filter(account=account, hour__gte=start, hour__lt=end, **filters)
    days = days.annotate(month=TruncMonth("day"))
    hours = hours.annotate(
        day=TruncDate("hour"), month=TruncMonth("hour", output_field=DateField())
    )
    return _totals(_sums(days, groups).union(_sums(hours, groups), all=True), len(groups))


def calls_by_day(first: date) -> tuple[Counter[date], Counter[date]]:
    """Return the calls of all accounts since then, and those with the verdict unknown."""
    days = UseDay.objects.filter(day__gte=first)
    hours = UseHour.objects.open().filter(hour__gte=midnight(first))
    both = [
        rows.order_by().values_list("day", "verdict").annotate(sum_of_calls=Sum("calls"))
        for rows in (days, hours.annotate(day=TruncDate("hour")))
    ]
    calls, unknown = Counter[date](), Counter[date]()
    for day, verdict, number in both[0].union(both[1], all=True):
        calls[day] += number
        unknown[day] += number * (verdict == "unknown")
    return calls, unknown


def hourly_usage(
    account: Account, start: datetime, end: datetime, *groups: str, **filters: object
) -> Iterator[UsageTotal]:
    """Yield usage by `hour`, by `key`, or by both."""
    hours = UseHour.objects.filter(account=account, hour__gte=start, hour__lt=end, **filters)
    return _totals(_sums(hours, groups), len(groups))


def credits_used_since(account: Account, moment: datetime) -> int:
    """Return the credits used since then, at most 13 months ago."""
    next_day = moment.date() + timedelta(days=1)
    # Read the hours of the first day, which counts in part.
    not_in_days = Q(summed=False) | Q(hour__lt=midnight(next_day))
    hours = UseHour.objects.filter(not_in_days, account=account, hour__gte=moment)
    days = UseDay.objects.filter(account=account, day__gte=next_day)
    return hours.credits() + days.credits()


def count_week_requests(*, account: Account) -> dict[int, int]:
    """Return the requests of the last 7 days by key, without lists: KEY_REQUESTS."""
    since = timezone.now() - timedelta(days=7)
    hours = UseHour.objects.filter(account=account, hour__gte=since, key__isnull=False).order_by()
    return dict(hours.values_list("key").annotate(requests=Sum(F("calls") - F("list_calls"))))


def roll_up_days() -> None:
    """Each day of an account is a transaction."""
    today = midnight(timezone.now().date())
    past = UseHour.objects.open().filter(hour__lt=today).annotate(day=TruncDate("hour"))
    for account_id, day in past.order_by().values_list("account_id", "day").distinct():
        _roll_up(account_id, day)


def delete_old_hours() -> None:
    cutoff = midnight((timezone.now() - HOURLY_RETENTION).date())
    UseHour.objects.filter(summed=True, hour__lt=cutoff).delete()


@transaction.atomic
def _roll_up(account_id: int, day: date) -> None:
    hours = UseHour.objects.open().filter(
        account_id=account_id, hour__gte=midnight(day), hour__lt=midnight(day) + timedelta(days=1)
    )
    # A late charge waits, finds the row rolled up, and inserts a new one.
    rows = list(hours.select_for_update())
    UseDay.objects.add_all(
        (row.account_id, row.key_id, day, row.verdict, *(getattr(row, name) for name in COUNTERS))
        for row in rows
    )
    UseHour.objects.filter(pk__in=[row.pk for row in rows]).update(summed=True)


def _sums(rows: QuerySet[Model], groups: tuple[str, ...]) -> QuerySet[Model, tuple[Any, ...]]:
    counters = COUNTS if "key" in groups else (*COUNTS, *BUCKETS)
    sums = {f"sum_of_{name}": Sum(name) for name in counters}
    columns = (*groups, "has_no_key", "verdict")
    summed = rows.order_by().annotate(has_no_key=Q(key=None)).values(*columns).annotate(**sums)
    rows_of_sums: QuerySet[Model, tuple[Any, ...]] = summed.values_list(*columns, *sums)
    return rows_of_sums


def _totals(rows: Iterable[tuple[Any, ...]], width: int) -> Iterator[UsageTotal]:
    """Convert rows. The first `width` columns are the group."""
    for row in rows:
        group = row[0] if width == 1 else row[:width]
        has_no_key, verdict, calls, credits, list_calls, list_credits, *histogram = row[width:]
        if list_calls:
            yield UsageTotal(group, Source.LISTS, verdict, list_calls, list_credits)
        calls, credits = calls - list_calls, credits - list_credits
        if calls or credits:
            source = Source.PLAYGROUND if has_no_key else Source.API
            yield UsageTotal(group, source, verdict, calls, credits, tuple(histogram))
