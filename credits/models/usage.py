"""Usage: calls and credits by account, key, hour (UTC), and verdict, and the part of lists.

Hours of finished days are rolled up into daily totals, and deleted after 13 months. Total usage is
all days plus the open hours.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q, Sum

from accounts.date_display import date_format
from accounts.models import Account
from apikeys.models import ApiKey, build_increments, unique_by_key
from runtime.database.raw_sql import BulkInsert, Row

# Inclusive bounds of the latency histogram, in milliseconds.
BUCKET_BOUNDS = (20, 50, 100, 250, 1000)
BUCKETS = (*(f"up_to_{bound}_ms" for bound in BUCKET_BOUNDS), "slower")
COUNTS = ("calls", "credits", "list_calls", "list_credits")
COUNTERS = (*COUNTS, "duration_ms", *BUCKETS)


class Source(models.TextChoices):
    API = "api", "API"
    PLAYGROUND = "playground"
    LISTS = "lists"


REQUEST_SOURCES = (Source.API, Source.PLAYGROUND)


class UseQuerySet(models.QuerySet[Any]):
    def credits(self) -> int:
        return int(self.aggregate(total=Sum("credits"))["total"] or 0)

    def add_all(self, rows: Iterable[Row]) -> None:
        for insert in self.bulk_inserts(rows):
            insert.run()

    def bulk_inserts(self, rows: Iterable[Row]) -> list[BulkInsert]:
        model = self.model
        names = ("account", "key", model.TIME_FIELD, "verdict", *COUNTERS)
        condition = " AND NOT summed" if model.IS_ROLLED_UP else ""
        return build_increments(model, names, len(COUNTERS), rows, condition)


class Use(models.Model):
    TIME_FIELD: ClassVar[str]
    # Later usage inserts a second row with the same key.
    IS_ROLLED_UP = False
    # Every call writes all indexes, so the foreign keys have none.
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    # Null for the playground, and for lists started in the dashboard.
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
    # The part of `calls` and `credits` that lists used.
    list_calls = models.BigIntegerField(default=0, db_default=0)
    list_credits = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        abstract = True


class UseHourQuerySet(UseQuerySet):
    def open(self) -> "UseHourQuerySet":
        return self.filter(summed=False)


class UseHour(Use):
    TIME_FIELD, IS_ROLLED_UP = "hour", True
    hour = models.DateTimeField()
    # Whether its day's total includes it.
    summed = models.BooleanField(default=False, db_default=False)

    objects = UseHourQuerySet.as_manager()

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
        hour = date_format(self.hour, "DATETIME_FORMAT")
        return f"{self.calls:,} {self.verdict} at {hour}"


class UseDay(Use):
    TIME_FIELD = "day"
    day = models.DateField()

    objects = UseQuerySet.as_manager()

    class Meta:
        verbose_name = "day of use"
        verbose_name_plural = "use by day"
        constraints = unique_by_key("use_day", "account", "key", "day", "verdict")
        indexes = [
            models.Index(fields=["account", "day"], name="use_day_by_account"),
            # For the admin's front page. Rows are written once per day.
            models.Index(fields=["day"], name="use_day_by_day"),
        ]

    def __str__(self) -> str:
        return f"{self.calls:,} {self.verdict} on {date_format(self.day)}"
