"""Let several processes work on rows: docs/design/leases.md."""

from datetime import datetime, timedelta
from typing import ClassVar, Self, TypeVar

from django.db import connection, models
from django.db.models import Q
from django.utils import timezone

Row = TypeVar("Row", bound="LeasedRow")

# A release may lengthen a LEASE by this at most: older workers ignore longer ones.
CLOCK_TOLERANCE = timedelta(hours=1)


def is_past(field: str, now: datetime, max_ahead: timedelta) -> Q:
    """Match past times, and those so far ahead that the clock was wrong."""
    return Q((f"{field}__lte", now)) | Q((f"{field}__gt", now + max_ahead))


class LeasedQuerySet(models.QuerySet[Row]):
    """Let a worker claim a row, work on it, and store the outcome if it still holds the lease.

    while chunk := Chunk.objects.claim():
        results = process(chunk)  # Long work calls chunk.renew() from time to time.
        with transaction.atomic():
            if chunk.lock_if_held():
                store(results)
                chunk.release(state="done")
    """

    def due(self) -> Self:
        """Return the rows that need work, in the order to claim them."""
        raise NotImplementedError

    def leased(self) -> Self:
        return self.exclude(self._is_free())

    def _is_free(self) -> Q:
        max_ahead = self.model.LEASE + CLOCK_TOLERANCE
        return Q(leased_until=None) | is_past("leased_until", timezone.now(), max_ahead)

    def claim(self) -> Row | None:
        """Lease the first due row to exactly one caller.

        PostgreSQL skips locked rows; SQLite has one writer.
        """
        first_due = self.due().filter(self._is_free()).values("id")[:1]
        select, values = first_due.query.sql_with_params()
        table = connection.ops.quote_name(self.model._meta.db_table)
        lock = f"FOR UPDATE OF {table} SKIP LOCKED" if connection.vendor == "postgresql" else ""
        statement = (
            f"UPDATE {table} SET leased_until = %s, attempts = attempts + 1 "  # noqa: S608
            f"WHERE id = ({select} {lock}) RETURNING *"
        )
        until = connection.ops.adapt_datetimefield_value(timezone.now() + self.model.LEASE)
        # SQLite commits only once all rows are fetched.
        claimed: list[Row] = list(self.raw(statement, [until, *values]))
        return claimed[0] if claimed else None


class LeasedRow(models.Model):
    """Methods return False after another worker's claim, which changes `leased_until`."""

    LEASE: ClassVar[timedelta]

    leased_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        abstract = True

    def renew(self) -> bool:
        """Call this outside a transaction."""
        return self._update_if_held(leased_until=timezone.now() + self.LEASE)

    def lock_if_held(self) -> bool:
        """Return whether the lease is held, and keep it during the transaction."""
        # SQLite's transactions hold its write lock from the start.
        return self._held().select_for_update().exists()

    def release(self, **changes: object) -> bool:
        return self._update_if_held(leased_until=None, **changes)

    def _held(self) -> "models.QuerySet[Self]":
        rows = type(self)._base_manager.filter(pk=self.pk, leased_until=self.leased_until)
        return rows.exclude(leased_until=None)

    def _update_if_held(self, **changes: object) -> bool:
        if not self._held().update(**changes):
            return False
        for name, value in changes.items():
            setattr(self, name, value)
        return True
