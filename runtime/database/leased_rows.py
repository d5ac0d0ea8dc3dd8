"""Let several processes work on rows: docs/design/leases.md."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import ClassVar, Self, TypeVar

from django.db import Error as DatabaseError
from django.db import connection, models
from django.db.models import Q
from django.utils import timezone

logger = logging.getLogger(__name__)

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


class Heartbeat:
    """Renew a row's lease while a block works. The block may use it only inside `paused()`."""

    def __init__(self, row: LeasedRow) -> None:
        self._row = row
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.is_lost = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Enter this before a transaction."""
        with self._lock:
            yield
        # Let other greenlets run, such as heartbeats.
        time.sleep(0)

    def _run(self) -> None:
        interval = self._row.LEASE.total_seconds() / 3
        while not self.is_lost and not self._end.wait(interval):
            with self._lock:
                try:
                    self.is_lost = not self._row.renew()
                except DatabaseError as error:
                    logger.warning("Lease not renewed: %s", error)
                finally:
                    connection.close()
