"""Total usage, from daily rows for rolled-up days and from hourly rows for the rest."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import transaction
from django.db.models import DateField, F, Model, Q, QuerySet, Sum
from django.db.models.expressions import Combinable
from django.db.models.functions import TruncDate, TruncMonth
from django.utils import timezone

from accounts.models import Account
from credits.latency import BUCKETS
from credits.models.usage import COUNTERS, UseDay, UseHour, UseHourQuerySet
from runtime.dates import midnight

HOURLY_RETENTION = timedelta(days=396)
_COUNT_SUMS = {f"sum_of_{name}": Sum(name) for name in ("calls", "credits")}
_ALL_SUMS = {**_COUNT_SUMS, **{f"sum_of_{name}": Sum(name) for name in BUCKETS}}


KeyId = int | None
Group_co = TypeVar("Group_co", covariant=True)
# Columns that the caller chooses.
_Row = tuple[Any, ...]


class UsageTotal(NamedTuple, Generic[Group_co]):
    """Usage of one verdict, grouped by day, month, hour, or key."""

    # The group: a date, an hour, the id of a key (None for the playground), or a tuple of them.
    of: Group_co
    verdict: str
    calls: int
    credits: int
    # Calls in each of credits.latency.BUCKETS. Empty for usage grouped by key.
    histogram: tuple[int, ...] = ()


def usage_by_day(
    account: Account, first: date, last: date, **filters: object
) -> Iterator[UsageTotal[date]]:
    """Yield usage by day. A day can occur twice: its total, and usage added after the roll-up."""
    day, hour = F("day"), TruncDate("hour")
    return _usage(account, first, last, filters, day=day, hour=hour)


def usage_by_month(
    account: Account, first: date, last: date, **filters: object
) -> Iterator[UsageTotal[date]]:
    """Yield usage by month, identified by its first day."""
    day, hour = TruncMonth("day"), TruncMonth("hour", output_field=DateField())
    return _usage(account, first, last, filters, day=day, hour=hour)


def usage_by_hour(
    account: Account, start: datetime, end: datetime, **filters: object
) -> Iterator[UsageTotal[datetime]]:
    """Yield usage by hour, within the 13 months for which hourly rows exist."""
    hours = _hours(account, start, end, filters).annotate(of=F("hour"))
    return _totals(_sums(hours, ("of",), _ALL_SUMS))


def usage_by_key(
    account: Account, first: date, last: date, **filters: object
) -> Iterator[UsageTotal[KeyId]]:
    day = hour = F("key")
    return _usage(account, first, last, filters, day=day, hour=hour, sums=_COUNT_SUMS)


def usage_by_key_between(
    account: Account, start: datetime, end: datetime, **filters: object
) -> Iterator[UsageTotal[KeyId]]:
    hours = _hours(account, start, end, filters).annotate(of=F("key"))
    return _totals(_sums(hours, ("of",), _COUNT_SUMS))


def usage_by_day_and_key(
    account: Account, first: date, last: date, **filters: object
) -> Iterator[UsageTotal[tuple[date, KeyId]]]:
    day, hour, columns = F("day"), TruncDate("hour"), ("of", "key")
    return _usage(
        account, first, last, filters, day=day, hour=hour, columns=columns, sums=_COUNT_SUMS
    )


def usage_by_hour_and_key(
    account: Account, start: datetime, end: datetime, **filters: object
) -> Iterator[UsageTotal[tuple[datetime, KeyId]]]:
    hours = _hours(account, start, end, filters).annotate(of=F("hour"))
    return _totals(_sums(hours, ("of", "key"), _COUNT_SUMS), 2)


def credits_used_since(account: Account, moment: datetime) -> int:
    """Return the credits used since then, at most 13 months ago: hourly rows go back that far."""
    next_day = moment.date() + timedelta(days=1)
    # The first day counts in part, so its hours are read even if it was rolled up.
    not_in_days = Q(summed=False) | Q(hour__lt=midnight(next_day))
    hours = UseHour.objects.filter(not_in_days, account=account, hour__gte=moment)
    days = UseDay.objects.filter(account=account, day__gte=next_day)
    return hours.credits() + days.credits()


def roll_up_days() -> None:
    """Add up the hours of finished days. A daily job.

    Each day of an account is one transaction, so a killed job leaves no day half rolled up.
    """
    today = midnight(timezone.now().date())
    past = UseHour.objects.open().filter(hour__lt=today).annotate(day=TruncDate("hour"))
    for account_id, day in past.order_by().values_list("account_id", "day").distinct():
        _roll_up(account_id, day)


def delete_old_hours() -> None:
    """Delete hours that were rolled up and are older than 13 months. A daily job."""
    cutoff = midnight((timezone.now() - HOURLY_RETENTION).date())
    UseHour.objects.filter(summed=True, hour__lt=cutoff).delete()


@transaction.atomic
def _roll_up(account_id: int, day: date) -> None:
    hours = UseHour.objects.open().filter(
        account_id=account_id, hour__gte=midnight(day), hour__lt=midnight(day) + timedelta(days=1)
    )
    # Locked until the commit: a late charge waits, finds the row rolled up, and inserts a new one.
    rows = list(hours.select_for_update())
    UseDay.objects.add_all(
        (row.account_id, row.key_id, day, row.verdict, *(getattr(row, name) for name in COUNTERS))
        for row in rows
    )
    UseHour.objects.filter(pk__in=[row.pk for row in rows]).update(summed=True)


def _hours(
    account: Account, start: datetime, end: datetime, filters: dict[str, object]
) -> UseHourQuerySet:
    return UseHour.objects.filter(account=account, hour__gte=start, hour__lt=end, **filters)


def _usage(
    account: Account,
    first: date,
    last: date,
    filters: dict[str, object],
    *,
    day: Combinable,
    hour: Combinable,
    columns: tuple[str, ...] = ("of",),
    sums: dict[str, Sum] = _ALL_SUMS,
) -> Iterator[UsageTotal[Any]]:
    """Yield usage grouped by the columns; `day` and `hour` are the expressions for `of`.

    Reads days and hours in one statement, because a day can be rolled up between two.
    """
    days = UseDay.objects.filter(account=account, day__range=(first, last), **filters)
    hours = _hours(account, midnight(first), midnight(last + timedelta(days=1)), filters).open()
    by_day = _sums(days.annotate(of=day), columns, sums)
    by_hour = _sums(hours.annotate(of=hour), columns, sums)
    return _totals(by_day.union(by_hour, all=True), len(columns))


def _sums(
    rows: QuerySet[Model], group: tuple[str, ...], sums: dict[str, Sum]
) -> QuerySet[Model, _Row]:
    """Return rows of the group's columns, the verdict, and the sums."""
    summed = rows.order_by().values(*group, "verdict").annotate(**sums)
    rows_of_sums: QuerySet[Model, _Row] = summed.values_list(*group, "verdict", *sums)
    return rows_of_sums


def _totals(rows: Iterable[_Row], width: int = 1) -> Iterator[UsageTotal[Any]]:
    """Convert rows whose first `width` columns are the group."""
    for row in rows:
        group = row[0] if width == 1 else row[:width]
        verdict, calls, credits, *histogram = row[width:]
        yield UsageTotal(group, verdict, calls, credits, tuple(histogram))
