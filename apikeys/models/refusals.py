from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from django.db import models, transaction
from django.db.models import Q, Sum

from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models.counting import additions, unique_by_key
from apikeys.models.keys import ApiKey

# How staff tell them apart; what is of another status is among the others.
STATUSES = {"limited": 429, "unpaid": 402, "unknown": 401}


class Counted(NamedTuple):
    account_id: int
    # None: the playground of the dashboard.
    key_id: int | None
    hour: datetime
    code: str


class RefusalHourQuerySet(models.QuerySet["RefusalHour"]):
    def add(self, calls: int, **counted: Any) -> None:
        self.add_all({Counted(**counted): calls})

    @transaction.atomic
    def add_all(self, counts: Mapping[Counted, int]) -> None:
        rows = [(*counted, calls) for counted, calls in counts.items()]
        for addition in additions(
            RefusalHour, ("account", "key", "hour", "code", "calls"), 1, rows
        ):
            addition.run()

    def worst_since(self, moment: datetime) -> Any:
        """A line an account: those that were limited most come first."""
        counts = {name: _calls(_codes_of(status)) for name, status in STATUSES.items()}
        others = ~_codes_of(*STATUSES.values())
        lines: Any = self.filter(hour__gte=moment).values("account")
        lines = lines.annotate(**counts, others=_calls(others), calls_in_all=Sum("calls"))
        return lines.order_by("-limited", "-calls_in_all", "account")


class RefusalHour(models.Model):
    """How often an account was refused, and why. Other than the request log it holds 429s too."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    # Null: the playground of the dashboard.
    key = models.ForeignKey(ApiKey, null=True, on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()
    code = models.CharField(max_length=40)
    calls = models.BigIntegerField()

    objects: ClassVar[RefusalHourQuerySet] = RefusalHourQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name = "hour of refusals"
        verbose_name_plural = "refusals by hour"
        constraints = unique_by_key("refusal_hour", "account", "hour", "code", "key")
        indexes = [
            models.Index(fields=["account", "hour"], name="refusals_by_account"),
            models.Index(fields=["hour"], name="refusals_by_hour"),
        ]

    def __str__(self) -> str:
        return f"{self.calls:,} {self.code} at {self.hour:%Y-%m-%d %H:00}"


def _calls(which: Q) -> Sum:
    return Sum("calls", filter=which, default=0)


def _codes_of(*statuses: int) -> Q:
    return Q(code__in=[code for code, refusal in REFUSALS.items() if refusal.status in statuses])
