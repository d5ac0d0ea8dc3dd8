from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Subquery
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import Account
from runtime.database.raw_sql import BulkInsert, JsonTable, Row
from validation.ids import first_id_at, result_created_at
from validation.models.log_entries import LogEntry

# The daily job that deletes expired results runs more often than this.
_MAX_OVERDUE = timedelta(days=2)
# Between the time in an id and that of its row, which the database sets for the previous release.
_MAX_CLOCK_DIFFERENCE = timedelta(hours=1)


class StoredResultQuerySet(models.QuerySet["StoredResult"]):
    def expired(self, prefix: str) -> "StoredResultQuerySet":
        """Return the expired rows whose ids have the prefix: of single results, or of batches."""
        since = stored_since()
        first = first_id_at(since, prefix)
        # The time as well, because some collations don't sort ids by time.
        return self.filter(result_id__gte=prefix, result_id__lt=first, at__lt=since)

    def find(self, account: Account, result_id: str) -> "StoredResult | None":
        """Find the row that has a result, within the retention.

        Older rows may exist for up to a day.
        """
        at = result_created_at(result_id)
        if at is None or at <= max(stored_since(), account.log_starts_at):
            return None
        # The times leave out the partitions of all other days.
        times = (at - _MAX_CLOCK_DIFFERENCE, timezone.now() + _MAX_CLOCK_DIFFERENCE)
        rows = self.filter(account=account, at__range=times)
        entries = LogEntry.objects.filter(account=account).with_result(result_id).order_by("at")
        batch_id = Subquery(entries.values("batch_id")[:1])
        return rows.filter(result_id=result_id).first() or rows.filter(result_id=batch_id).first()

    def of_requests(self, entries: models.QuerySet[LogEntry]) -> "StoredResultQuerySet":
        """Return the results of request log entries, expired ones included.

        Each stored result has an entry, because both are written together. Batches are apart.
        """
        return self.filter(result_id__in=_recent(entries).values("result_id"))

    def of_batches_with(self, entries: models.QuerySet[LogEntry]) -> "StoredResultQuerySet":
        """Return the rows of the entries' batches. They have the results of other entries too."""
        ids = _recent(entries).exclude(batch_id="").values("batch_id")
        return self.filter(result_id__in=ids)

    def bulk_insert(self, rows: Iterable[Row]) -> BulkInsert:
        """Return one INSERT of rows of result id, account id and packed result."""
        now = timezone.now()
        return BulkInsert(self.model._meta.db_table, _row_format(), [(*row, now) for row in rows])


class StoredResult(models.Model):
    """A result that the API returns again, or all those of a batch, packed by stored_results.py.

    Every metered call writes a row, so the table has one index. Ids sort by time: the same index
    finds a row, and those that have expired on a day that can't be dropped yet. A result of a batch
    is found by its request log entry, which has the batch's id.
    """

    # Of the batch, if it is the row of one.
    result_id = models.CharField(max_length=30, primary_key=True)
    # Without a constraint, which would be checked for each row. The usage that is recorded with the
    # charge has one.
    account = models.ForeignKey(
        Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    # Encrypted, as Base64: it travels as JSON.
    packed = models.TextField()
    # Decides the partition of the row (validation/partitions.py). The previous release doesn't set
    # it, and older rows have the time of the migration: the id has the time of the result.
    at = models.DateTimeField(db_default=Now())

    objects = StoredResultQuerySet.as_manager()

    def __str__(self) -> str:
        return self.result_id


def stored_since() -> datetime:
    """Return the beginning of the retention, which isn't before that of the request log."""
    hours = min(settings.RESULT_RETENTION_HOURS, settings.LOG_RETENTION_DAYS * 24)
    return timezone.now() - timedelta(hours=hours)


def _recent(entries: models.QuerySet[LogEntry]) -> models.QuerySet[LogEntry]:
    """Return the entries whose results may be stored."""
    return entries.order_by().filter(at__gte=stored_since() - _MAX_OVERDUE).exclude(result_id="")


@cache
def _row_format() -> JsonTable:
    fields: Iterable[Any] = StoredResult._meta.concrete_fields
    return JsonTable(**{field.column: field for field in fields})
