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
_PLAIN = {f"sum_of_{name}": Sum(name) for name in ("calls", "credits")}
_WITH_HISTOGRAM = {**_PLAIN, **{f"sum_of_{name}": Sum(name) for name in BUCKETS}}


class Used(NamedTuple):
    """A sum, of one verdict."""

    # The day, the hour, or the id of the key (None: the playground); or a tuple of them.
    of: Any
    verdict: str
    calls: int
    credits: int
    # How many calls took how long: one count for each of credits.latency.BUCKETS. Empty where use
    # is told by key.
    histogram: tuple[int, ...] = ()


def use_by_day(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    """A day may come twice: its total, and what was added to it late."""
    day, hour = F("day"), F("hour__date")
    return _whole_book(account, first, last, only, day=day, hour=hour)


def use_by_month(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    """The first day of each month stands for it."""
    day, hour = TruncMonth("day"), TruncMonth("hour", output_field=DateField())
    return _whole_book(account, first, last, only, day=day, hour=hour)


def use_by_hour(account: Account, start: datetime, end: datetime, **only: Any) -> Iterator[Used]:
    """Within the 13 months for which hours are known."""
    hours = _hours(account, start, end, only).annotate(of=F("hour"))
    return _used(_sums(hours, ("of",), _WITH_HISTOGRAM))


def use_by_key(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    day = hour = F("key")
    return _whole_book(account, first, last, only, day=day, hour=hour, sums=_PLAIN)


def use_of_hours_by_key(
    account: Account, start: datetime, end: datetime, **only: Any
) -> Iterator[Used]:
    hours = _hours(account, start, end, only).annotate(of=F("key"))
    return _used(_sums(hours, ("of",), _PLAIN))


def use_by_day_and_key(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    day, hour, also = F("day"), F("hour__date"), ("key",)
    return _whole_book(account, first, last, only, day=day, hour=hour, also=also, sums=_PLAIN)


def use_by_hour_and_key(
    account: Account, start: datetime, end: datetime, **only: Any
) -> Iterator[Used]:
    hours = _hours(account, start, end, only).annotate(of=F("hour"))
    return _used(_sums(hours, ("of", "key"), _PLAIN), 2)


def used_since(account: Account, moment: datetime) -> int:
    """The credits used since then; within the 13 months for which hours are known."""
    next_day = moment.date() + timedelta(days=1)
    in_no_total = Q(summed=False) | Q(hour__lt=midnight(next_day))
    hours = UseHour.objects.filter(in_no_total, account=account, hour__gte=moment)
    days = UseDay.objects.filter(account=account, day__gte=next_day)
    return hours.credits() + days.credits()


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
    UseDay.objects.add_all(
        (row.account_id, row.key_id, day, row.verdict, *(getattr(row, name) for name in COUNTED))
        for row in rows
    )
    UseHour.objects.filter(pk__in=[row.pk for row in rows]).update(summed=True)


def _hours(account: Account, start: datetime, end: datetime, only: dict[str, Any]) -> Any:
    return UseHour.objects.filter(account=account, hour__gte=start, hour__lt=end, **only)


def _whole_book(
    account: Account,
    first: date,
    last: date,
    only: dict[str, Any],
    *,
    day: Any,
    hour: Any,
    also: tuple[str, ...] = (),
    sums: dict[str, Sum] = _WITH_HISTOGRAM,
) -> Iterator[Used]:
    """In one statement: between two of them a day might be summed up."""
    days = UseDay.objects.filter(account=account, day__range=(first, last), **only)
    hours = _hours(account, midnight(first), midnight(last + timedelta(days=1)), only).open()
    by = ("of", *also)
    by_day = _sums(days.annotate(of=day), by, sums)
    return _used(by_day.union(_sums(hours.annotate(of=hour), by, sums), all=True), len(by))


def _sums(rows: Any, by: tuple[str, ...], sums: dict[str, Sum]) -> Any:
    """Rows of what they are of, the verdict, and the sums."""
    summed = rows.order_by().values(*by, "verdict").annotate(**sums)
    return summed.values_list(*by, "verdict", *sums)


def _used(rows: Any, width: int = 1) -> Iterator[Used]:
    """`width`: how many columns say what a row is of."""
    for row in rows:
        of = row[0] if width == 1 else row[:width]
        verdict, calls, credits, *histogram = row[width:]
        yield Used(of, verdict, calls, credits, tuple(histogram))
