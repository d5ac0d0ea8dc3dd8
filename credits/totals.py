"""What was used, read from the second book: whole days from their totals, the rest by the hour."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from accounts.models import Account
from credits.models.use import COUNTED, UseDay, UseHour
from credits.periods import midnight

HOURS_KEPT = timedelta(days=396)
_SUMS = {f"sum_of_{name}": Sum(name) for name in COUNTED}


class Used(NamedTuple):
    """A sum, of one verdict."""

    # The day, the hour, or the id of the key (None: the playground).
    of: Any
    verdict: str
    calls: int
    credits: int
    duration_ms: int
    # How many calls took how long: one count for each of credits.models.use.BUCKETS.
    histogram: tuple[int, ...]


def use_by_day(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    """A day may come twice: its total, and what was added to it late."""
    return _whole_book(account, first, last, only, day=F("day"), hour=F("hour__date"))


def use_by_key(account: Account, first: date, last: date, **only: Any) -> Iterator[Used]:
    return _whole_book(account, first, last, only, day=F("key"), hour=F("key"))


def use_by_hour(account: Account, start: datetime, end: datetime, **only: Any) -> Iterator[Used]:
    """Within the 13 months for which hours are known."""
    hours = UseHour.objects.filter(account=account, hour__gte=start, hour__lt=end, **only)
    return _used(_sums(hours.annotate(of=F("hour"))))


def used_since(account: Account, moment: datetime) -> int:
    """The credits used since then; within the 13 months for which hours are known."""
    next_day = moment.date() + timedelta(days=1)
    hours = UseHour.objects.filter(account=account, hour__gte=moment)
    days = UseDay.objects.filter(account=account, day__gte=next_day)
    of_its_day = hours.filter(hour__lt=midnight(next_day), summed=True)
    return hours.open().credits() + of_its_day.credits() + days.credits()


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


def _whole_book(
    account: Account, first: date, last: date, only: dict[str, Any], *, day: F, hour: F
) -> Iterator[Used]:
    """In one statement: between two of them a day might be summed up."""
    days = UseDay.objects.filter(account=account, day__range=(first, last), **only)
    hours = UseHour.objects.open().filter(
        account=account, hour__gte=midnight(first), hour__lt=midnight(last + timedelta(days=1))
    )
    by_day, by_hour = days.annotate(of=day), hours.filter(**only).annotate(of=hour)
    return _used(_sums(by_day).union(_sums(by_hour), all=True))


def _sums(rows: Any) -> Any:
    return rows.order_by().values("of", "verdict").annotate(**_SUMS)


def _used(rows: Any) -> Iterator[Used]:
    for of, verdict, calls, credits, duration_ms, *histogram in rows.values_list(
        "of", "verdict", *_SUMS
    ):
        yield Used(of, verdict, calls, credits, duration_ms, tuple(histogram))
