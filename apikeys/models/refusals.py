"""Count refused requests per hour: a row for each would fill the database."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import models, transaction
from django.db.models import Q, Sum
from django.utils import timezone

from accounts.date_display import date_format
from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models.keys import ApiKey
from apikeys.models.upserts import build_increments, unique_by_key
from runtime.database.write_behind import WriteBuffer

RETENTION = timedelta(days=90)
# Columns of the staff panel. Other statuses are `others`.
STATUSES = {"limited": 429, "unpaid": 402, "unknown": 401}


class RefusalGroup(NamedTuple):
    account_id: int
    # None for the playground.
    key_id: int | None
    hour: datetime
    code: str


class RefusalHourQuerySet(models.QuerySet["RefusalHour"]):
    @transaction.atomic
    def add_all(self, counts: Mapping[RefusalGroup, int]) -> None:
        rows = [(*group, calls) for group, calls in counts.items()]
        for increment in build_increments(
            RefusalHour, ("account", "key", "hour", "code", "calls"), 1, rows
        ):
            increment.run()

    def summarize_by_account(self, since: datetime) -> Any:
        counts = {name: _sum_calls(_has_status(status)) for name, status in STATUSES.items()}
        others = ~_has_status(*STATUSES.values())
        rows: Any = self.filter(hour__gte=since).values("account")
        rows = rows.annotate(**counts, others=_sum_calls(others), total_calls=Sum("calls"))
        return rows.order_by("-limited", "-total_calls", "account")


class RefusalHour(models.Model):
    """An account's refusals in an hour, by code."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    key = models.ForeignKey(ApiKey, null=True, on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()
    code = models.CharField(max_length=40)
    calls = models.BigIntegerField()

    objects = RefusalHourQuerySet.as_manager()

    class Meta:
        verbose_name = "hourly refusal count"
        verbose_name_plural = "refusals by hour"
        constraints = unique_by_key("refusal_hour", "account", "hour", "code", "key")
        indexes = [
            models.Index(fields=["account", "hour"], name="refusals_by_account"),
            models.Index(fields=["hour"], name="refusals_by_hour"),
        ]

    def __str__(self) -> str:
        hour = date_format(self.hour, "DATETIME_FORMAT")
        return f"{self.calls:,} {self.code} at {hour}"


refusals: WriteBuffer[RefusalGroup] = WriteBuffer(
    lambda groups: RefusalHour.objects.add_all(Counter(groups))
)


def count_refusal(account_id: int, key: ApiKey | None, code: str) -> None:
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    refusals.add(RefusalGroup(account_id, key.pk if key else None, hour, code))


def delete_old_refusals() -> None:
    RefusalHour.objects.filter(hour__lt=timezone.now() - RETENTION).delete()


def _sum_calls(condition: Q) -> Sum:
    return Sum("calls", filter=condition, default=0)


def _has_status(*statuses: int) -> Q:
    return Q(code__in=[code for code, refusal in REFUSALS.items() if refusal.status in statuses])
