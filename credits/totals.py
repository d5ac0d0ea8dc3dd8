"""What was used, read from the second book: whole days from their totals, the rest by the hour."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import DateField, F, Q, Sum
from django.db.models.functions import TruncMonth
from django.utils import timezone

from accounts.models import Account
from credits.latency import BUCKETS
from credits.models.use import COUNTED, UseDay, UseHour
from credits.periods import midnight

HOURS_KEPT = timedelta(days=396)
_SUMS = {f"sum_of_{name}": Sum(name) for name in COUNTED}


class Used(NamedTuple):
    """A sum, of one verdict."""

    # The day, the hour, or the id of the key (None: the playground); or a tuple of them.
    of: Any
    verdict: str
    calls: int
    credits: int
    duration_ms: int
    # How many calls took how long: one count for each of credits.latency.BUCKETS.
    histogram: tuple[int, ...]


def use_by_day(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    """A day may come twice: its total, and what was added to it late."""
    return _whole_book(account, first, last, only, day=F("day"), hour=F("hour__date"))


def use_by_day_and_key(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    day, hour = F("day"), F("hour__date")
    return _whole_book(account, first, last, only, day=day, hour=hour, also=("key",))


def use_by_month(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    """The first day of each month stands for it."""
    day, hour = TruncMonth("day"), TruncMonth("hour", output_field=DateField())
    return _whole_book(account, first, last, only, day=day, hour=hour)


def use_by_key(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    return _whole_book(account, first, last, only, day=F("key"), hour=F("key"))


def use_by_hour(account: Account, start: datetime, end: datetime, **only: Any) -> Iterator[Used]:
    """Within the 13 months for which hours are known."""
    return _used(_sums(_hours(account, start, end, only), ("of",)))


def use_by_hour_and_key(
    account: Account, start: datetime, end: datetime, **only: Any
) -> Iterator[Used]:
    return _used(_sums(_hours(account, start, end, only), ("of", "key")))


def used_since(account: Account, moment: datetime) -> int:
    """The credits used since then; within the 13 months for which hours are known."""
    next_day = moment.date() + timedelta(days=1)
    in_no_total = Q(summed=False) | Q(hour__lt=midnight(next_day))
    hours = UseHour.objects.filter(in_no_total, account=account, hour__gte=moment)
    days = UseDay.objects.filter(account=account, day__gte=next_day)
    return hours.credits() + days.credits()


def used_before(account: Account, day: date) -> int:
    hours = UseHour.objects.open().filter(account=account, hour__lt=midnight(day))
    return hours.credits() + UseDay.objects.filter(account=account, day__lt=day).credits()


def sum_up_days() -> None:
    """A job of the day. A killed one has summed up an account's whole day, or nothing of it."""
    today = midnight(timezone.now().date())
    over = UseHour.objects.open().filter(hour__lt=today).annotate(day=F("hour__date"))
    for account_id, day in over.order_by().values_list("account_id", "day").distinct():
        _sum_up(account_id, day)


def delete_old_hours() -> None:
    """A job of the day: of what days hold, after 13 months."""
    before = midnight((timezone.now() - HOURS_KEPT).date())
    UseHour.objects.filter(summed=True, hour__lt=before).delete()


@transaction.atomic
def _sum_up(account_id: int, day: date) -> None:
    of_day = UseHour.objects.open().filter(
        account_id=account_id, hour__gte=midnight(day), hour__lt=midnight(day) + timedelta(1)
    )
    # Held until the end: what is added meanwhile waits, and then makes a row of its own.
    rows = list(of_day.select_for_update())
    for row in rows:
        counts = {name: getattr(row, name) for name in COUNTED}
        UseDay.objects.add(
            account_id=row.account_id, key_id=row.key_id, at=day, verdict=row.verdict, **counts
        )
    UseHour.objects.filter(pk__in=[row.pk for row in rows]).update(summed=True)


def _hours(account: Account, start: datetime, end: datetime, only: dict[str, Any]) -> Any:
    hours = UseHour.objects.filter(account=account, hour__gte=start, hour__lt=end, **only)
    return hours.annotate(of=F("hour"))


def _whole_book(
    account: Account,
    first: date,
    last: date,
    only: dict[str, Any],
    *,
    day: Any,
    hour: Any,
    also: tuple[str, ...] = (),
) -> Iterator[Used]:
    """In one statement: between two of them a day might be summed up."""
    days = UseDay.objects.filter(account=account, day__range=(first, last), **only)
    hours = UseHour.objects.open().filter(
        account=account, hour__gte=midnight(first), hour__lt=midnight(last + timedelta(days=1))
    )
    by_day, by_hour = days.annotate(of=day), hours.filter(**only).annotate(of=hour)
    by = ("of", *also)
    return _used(_sums(by_day, by).union(_sums(by_hour, by), all=True))


def _sums(rows: Any, by: tuple[str, ...]) -> Any:
    sums = rows.order_by().values(*by, "verdict").annotate(**_SUMS)
    return sums.values_list(*by, "verdict", *_SUMS)


def _used(rows: Any) -> Iterator[Used]:
    for row in rows:
        *by, verdict, calls, credits, duration_ms = row[: -len(BUCKETS)]
        histogram = row[-len(BUCKETS) :]
        of = by[0] if len(by) == 1 else tuple(by)
        yield Used(of, verdict, calls, credits, duration_ms, histogram)
