"""The second book: what was used, by account, key, hour (UTC) and verdict.

Each validation adds to one row, in the transaction that charges it. When a day is over its hours
are summed up, and its totals are kept for ever: the book is all days and the hours that no day
holds yet. Summed hours stay for 13 months, to be looked at.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q, Sum

from accounts.models import Account
from apikeys.models import ApiKey, additions, unique_by_key
from credits.latency import BUCKETS
from runtime.database.raw_sql import BulkInsert, Row

COUNTED = ("calls", "credits", "duration_ms", *BUCKETS)


class UseQuerySet(models.QuerySet[Any]):
    def credits(self) -> int:
        return int(self.aggregate(total=Sum("credits"))["total"] or 0)

    def add_all(self, uses: Iterable[Row]) -> None:
        """Of account, key, moment and verdict, and what is counted."""
        for addition in self.additions(uses):
            addition.run()

    def additions(self, uses: Iterable[Row]) -> list[BulkInsert]:
        model: Any = self.model
        names = ("account", "key", model.MOMENT, "verdict", *COUNTED)
        return additions(model, names, len(COUNTED), uses, " AND NOT summed" * model.CLOSES)


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
