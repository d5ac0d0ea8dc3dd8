"""Rows that several processes work on, each row in one process at a time.

A worker claims a row for the model's LEASE. If the worker dies, the lease ends and another worker
claims the row: work may be done twice, but its outcome is stored once.

No library does this without a queue of its own: here the work is a row of the transaction that
creates it, and its outcome belongs to the transaction that ends the lease.
"""

from datetime import datetime, timedelta
from typing import ClassVar, Self, TypeVar

from django.db import connection, models
from django.db.models import Q
from django.utils import timezone

Row = TypeVar("Row", bound="LeasedRow")

# Also the most by which a release may lengthen a model's LEASE: older workers ignore longer leases.
CLOCK_TOLERANCE = timedelta(hours=1)


def is_past(field: str, now: datetime, max_ahead: timedelta) -> Q:
    """Match times up to now, and times too far ahead to be right.

    Those were written while the clock was ahead: without this rule, the row would wait for months.
    """
    return Q((f"{field}__lte", now)) | Q((f"{field}__gt", now + max_ahead))


class LeasedQuerySet(models.QuerySet[Row]):
    """Let each worker claim a row, work on it, and store the outcome if the row is still its own.

    while chunk := Chunk.objects.claim():
        results = process(chunk)  # Long work calls chunk.renew() from time to time.
        with transaction.atomic():
            if chunk.lock_if_held():
                store(results)
                chunk.release(state="done")
    """

    def due(self) -> Self:
        """Return the rows that need work, in the order of their claims. Subclasses define it."""
        raise NotImplementedError

    def claim(self) -> Row | None:
        """Lease the first due row to exactly one caller, and count the attempt.

        It's a single statement. Concurrent callers get different rows without waiting for each
        other: PostgreSQL skips rows that are being claimed, and SQLite has one writer at a time.
        """
        lease, now = self.model.LEASE, timezone.now()
        is_free = Q(leased_until=None) | is_past("leased_until", now, lease + CLOCK_TOLERANCE)
        first_due = self.due().filter(is_free).values("id")[:1]
        select, values = first_due.query.sql_with_params()
        table = connection.ops.quote_name(self.model._meta.db_table)
        lock = f"FOR UPDATE OF {table} SKIP LOCKED" if connection.vendor == "postgresql" else ""
        statement = (
            f"UPDATE {table} SET leased_until = %s, attempts = attempts + 1 "  # noqa: S608
            f"WHERE id = ({select} {lock}) RETURNING *"
        )
        until = connection.ops.adapt_datetimefield_value(now + lease)
        # All rows are fetched, because SQLite commits only then.
        claimed: list[Row] = list(self.raw(statement, [until, *values]))
        return claimed[0] if claimed else None


class LeasedRow(models.Model):
    """A row with a lease, which the instance that `claim` returned holds.

    `leased_until` also identifies the lease, because each claim and renewal writes another time. A
    holder whose lease ended keeps the row until another one claims it. From then on, this
    instance's methods change nothing and return False.
    """

    LEASE: ClassVar[timedelta]

    leased_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        abstract = True

    def renew(self) -> bool:
        """Extend the lease, to LEASE from now. Call it outside a transaction."""
        return self._update_if_held(leased_until=timezone.now() + self.LEASE)

    def lock_if_held(self) -> bool:
        """Return whether no one else has claimed the row, nor can before this transaction ends."""
        # SQLite ignores FOR UPDATE: a transaction holds its only write lock from the beginning.
        return self._held().select_for_update().exists()

    def release(self, **changes: object) -> bool:
        """End the lease and write the outcome, in one statement."""
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
