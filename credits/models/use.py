"""The second book: what was used, by account, key, hour (UTC) and verdict.

Each validation adds to one row, in the transaction that charges it. When a day is over its hours
are summed up, and its totals are kept for ever: the book is all days and the hours that no day
holds yet. Summed hours stay for 13 months, to be looked at.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q, Sum

from accounts.models import Account
from accounts.statements import Rows, run
from apikeys.models import ApiKey, unique_by_key
from credits.latency import BUCKETS

COUNTED = ("calls", "credits", "duration_ms", *BUCKETS)


class UseQuerySet(models.QuerySet[Any]):
    def credits(self) -> int:
        return int(self.aggregate(total=Sum("credits"))["total"] or 0)

    def add(
        self, *, account_id: int, key_id: int | None, at: Any, verdict: str, **counts: int
    ) -> None:
        which = (account_id, key_id, at, verdict)
        self.add_all([(*which, *(counts.get(name, 0) for name in COUNTED))])

    def add_all(self, uses: Iterable[tuple[Any, ...]]) -> None:
        """Adds each to the row there is of its account, key, moment and verdict, or makes it."""
        summed: dict[tuple[Any, ...], list[int]] = {}
        for use in uses:
            counts = summed.setdefault(use[:4], [0] * len(COUNTED))
            for place, count in enumerate(use[4:]):
                counts[place] += count
        model: Any = self.model
        rows = [(*which, *counts) for which, counts in sorted(summed.items(), key=_place)]
        # A unique index takes NULLs for different: each case has one of its own.
        for has_key in (True, False):
            if chosen := [row for row in rows if (row[1] is not None) is has_key]:
                run(_upsert(model, has_key=has_key), [_rows(model).value(chosen)])


@cache
def _rows(model: Any) -> Rows:
    names = ("account", "key", model.MOMENT, "verdict", *COUNTED)
    fields = (model._meta.get_field(name) for name in names)
    return Rows(**{field.column: field for field in fields})


@cache
def _upsert(model: Any, *, has_key: bool) -> str:
    table = model._meta.db_table
    same = f"account_id, {'key_id, ' if has_key else ''}{model.MOMENT}, verdict"
    which = f"({same}) WHERE key_id IS {'NOT ' if has_key else ''}NULL"
    which += " AND NOT summed" if model.CLOSES else ""
    sums = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in COUNTED)
    return f"{_rows(model).insert_into(table)} ON CONFLICT {which} DO UPDATE SET {sums}"


def _place(item: tuple[tuple[Any, ...], Any]) -> tuple[Any, ...]:
    """One order for all who change several rows at once, so that none waits for another in vain."""
    account_id, key_id, at, verdict = item[0]
    return account_id, key_id or 0, at, verdict


class Use(models.Model):
    MOMENT: ClassVar[str]
    # Whether a row may be closed, and a new one of the same kind begun beside it.
    CLOSES = False
    # Each index is one more to write for every call: neither of these has one of its own.
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    # Null: the playground of the dashboard.
    key = models.ForeignKey(
        ApiKey, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    verdict = models.CharField(max_length=20)
    calls = models.BigIntegerField(default=0)
    credits = models.BigIntegerField(default=0)
    duration_ms = models.BigIntegerField(default=0)
    up_to_20_ms = models.BigIntegerField(default=0)
    up_to_50_ms = models.BigIntegerField(default=0)
    up_to_100_ms = models.BigIntegerField(default=0)
    up_to_250_ms = models.BigIntegerField(default=0)
    up_to_1000_ms = models.BigIntegerField(default=0)
    slower = models.BigIntegerField(default=0)

    objects: ClassVar[UseQuerySet] = UseQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        abstract = True


class UseHourQuerySet(UseQuerySet):
    def open(self) -> "UseHourQuerySet":
        """Those that no day holds yet."""
        return self.filter(summed=False)


class UseHour(Use):
    MOMENT, CLOSES = "hour", True
    hour = models.DateTimeField()
    # The total of its day holds it. What comes late, to a day that is summed up, makes a new row.
    summed = models.BooleanField(default=False, db_default=False)

    objects: ClassVar[UseHourQuerySet] = UseHourQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name = "hour of use"
        verbose_name_plural = "use by hour"
        constraints = unique_by_key("use_hour", "account", "key", "hour", "verdict", summed=False)
        indexes = [
            models.Index(fields=["account", "hour"], name="use_hour_by_account"),
            models.Index(
                fields=["account", "hour"], condition=Q(summed=False), name="use_hour_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.calls:,} {self.verdict} at {self.hour:%Y-%m-%d %H:00}"


class UseDay(Use):
    MOMENT = "day"
    day = models.DateField()

    class Meta:
        verbose_name = "day of use"
        verbose_name_plural = "use by day"
        constraints = unique_by_key("use_day", "account", "key", "day", "verdict")
        indexes = [models.Index(fields=["account", "day"], name="use_day_by_account")]

    def __str__(self) -> str:
        return f"{self.calls:,} {self.verdict} on {self.day:%Y-%m-%d}"
