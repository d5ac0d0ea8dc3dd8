"""The second book: what was used, by account, key, hour (UTC) and verdict.

Each validation adds to one row, in the transaction that charges it. Hours older than 13 months
become days, which are kept for ever.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any, ClassVar

from django.db import connection, models, transaction
from django.db.models import F, Q, Sum
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from credits.periods import midnight

HOURS_KEPT = timedelta(days=396)
# The histogram: how many calls took at most so many milliseconds; the last has no bound.
BOUNDS = (20, 50, 100, 250, 1000)
BUCKETS = (*(f"up_to_{bound}_ms" for bound in BOUNDS), "slower")
COUNTED = ("calls", "credits", "duration_ms", *BUCKETS)


def bucket_of(duration_ms: int) -> str:
    for bound, bucket in zip(BOUNDS, BUCKETS, strict=False):
        if duration_ms <= bound:
            return bucket
    return BUCKETS[-1]


class UseQuerySet(models.QuerySet[Any]):
    def credits(self) -> int:
        return int(self.aggregate(total=Sum("credits"))["total"] or 0)

    def add(
        self, *, account_id: int, key_id: int | None, at: Any, verdict: str, **counts: int
    ) -> None:
        """One statement: adds to the row there is, or makes it."""
        quote = connection.ops.quote_name
        table, moment = quote(self.model._meta.db_table), self.model.MOMENT
        # As the ORM writes it: SQLite compares texts.
        at = self.model._meta.get_field(moment).get_db_prep_value(at, connection)
        values = {"account_id": account_id, "key_id": key_id, moment: at, "verdict": verdict}
        values |= {name: counts.get(name, 0) for name in COUNTED}
        columns = ", ".join(map(quote, values))
        places = ", ".join(["%s"] * len(values))
        sums = ", ".join(f"{quote(n)} = {table}.{quote(n)} + excluded.{quote(n)}" for n in COUNTED)
        # A unique index takes NULLs for different: each case has one of its own.
        which = (
            f"(account_id, {quote(moment)}, verdict) WHERE key_id IS NULL"
            if key_id is None
            else f"(account_id, key_id, {quote(moment)}, verdict) WHERE key_id IS NOT NULL"
        )
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {table} ({columns}) VALUES ({places}) "  # noqa: S608 - our own names
                f"ON CONFLICT {which} DO UPDATE SET {sums}",
                list(values.values()),
            )


class Use(models.Model):
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    # Null: the playground of the dashboard.
    key = models.ForeignKey(ApiKey, null=True, on_delete=models.PROTECT, related_name="+")
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


class UseHour(Use):
    MOMENT = "hour"
    hour = models.DateTimeField()

    class Meta:
        verbose_name = "hour of use"
        verbose_name_plural = "use by hour"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "key", "hour", "verdict"],
                condition=Q(key__isnull=False),
                name="use_hour_of_key",
            ),
            models.UniqueConstraint(
                fields=["account", "hour", "verdict"],
                condition=Q(key__isnull=True),
                name="use_hour_of_playground",
            ),
        ]
        indexes = [models.Index(fields=["account", "hour"], name="use_hour_by_account")]

    def __str__(self) -> str:
        return f"{self.calls:,} {self.verdict} at {self.hour:%Y-%m-%d %H:00}"


class UseDay(Use):
    MOMENT = "day"
    day = models.DateField()

    class Meta:
        verbose_name = "day of use"
        verbose_name_plural = "use by day"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "key", "day", "verdict"],
                condition=Q(key__isnull=False),
                name="use_day_of_key",
            ),
            models.UniqueConstraint(
                fields=["account", "day", "verdict"],
                condition=Q(key__isnull=True),
                name="use_day_of_playground",
            ),
        ]
        indexes = [models.Index(fields=["account", "day"], name="use_day_by_account")]

    def __str__(self) -> str:
        return f"{self.calls:,} {self.verdict} on {self.day:%Y-%m-%d}"


def used_since(account: Account, moment: datetime) -> int:
    """The credits used since then; within the 13 months for which hours are known."""
    return UseHour.objects.filter(account=account, hour__gte=moment).credits()


def use_of_days(
    account: Account, first: date, last: date, **only: Any
) -> Iterator[tuple[date, str, int, int]]:
    """Day, verdict, calls and credits of all that was used from the first to the last day."""
    hours = UseHour.objects.filter(
        account=account, hour__gte=midnight(first), hour__lt=midnight(last + timedelta(days=1))
    )
    days = UseDay.objects.filter(account=account, day__range=(first, last))
    for rows in (hours.annotate(on=F("hour__date")), days.annotate(on=F("day"))):
        sums = rows.filter(**only).values_list("on", "verdict").order_by("on", "verdict")
        yield from sums.annotate(Sum("calls"), Sum("credits"))


def turn_hours_into_days() -> None:
    """A job of the day. A killed one has moved whole days or none."""
    before = midnight((timezone.now() - HOURS_KEPT).date())
    old = UseHour.objects.filter(hour__lt=before)
    for day in old.order_by().values_list("hour__date", flat=True).distinct():
        _turn_into_day(day)


@transaction.atomic
def _turn_into_day(day: date) -> None:
    hours = UseHour.objects.filter(hour__gte=midnight(day), hour__lt=midnight(day) + timedelta(1))
    rows = list(hours.select_for_update())
    for row in rows:
        counts = {name: getattr(row, name) for name in COUNTED}
        UseDay.objects.add(
            account_id=row.account_id, key_id=row.key_id, at=day, verdict=row.verdict, **counts
        )
    UseHour.objects.filter(pk__in=[row.pk for row in rows]).delete()
