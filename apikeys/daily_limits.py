from datetime import timedelta
from typing import Self, TypeVar

from django.db import models
from django.utils import timezone

from apikeys.errors import daily_limit_exceeded

WINDOW = timedelta(hours=24)
Row = TypeVar("Row", bound=models.Model)


class DailyQuerySet(models.QuerySet[Row]):
    """Rows that count toward a limit of 24 hours. Their time is `at`."""

    def recent(self) -> Self:
        return self.filter(at__gt=timezone.now() - WINDOW)

    def old(self) -> Self:
        return self.filter(at__lte=timezone.now() - WINDOW)

    def require_room(self, limit: int, what: str) -> None:
        """Raise ApiError if there are that many recent rows. `what`: "take 5 samples"."""
        counted = list(self.recent().order_by("-at").values_list("at", flat=True)[:limit])
        if len(counted) == limit:
            raise daily_limit_exceeded(what, limit=limit, ends=counted[-1] + WINDOW)
