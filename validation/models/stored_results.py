from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import Account
from runtime.database.raw_sql import BulkInsert, JsonTable, Row
from validation.ids import first_id_at, result_created_at
from validation.models.log_entries import LogEntry
from validation.models.probes import Probe

# How late the daily job may delete expired results.
_MAX_OVERDUE = timedelta(days=2)
# Between the time in an id and the time of its row.
MAX_CLOCK_DIFFERENCE = timedelta(hours=1)


class StoredResultQuerySet(models.QuerySet["StoredResult"]):
    def expired(self, prefix: str, since: datetime) -> "StoredResultQuerySet":
        first = first_id_at(since, prefix)
        # Also by `at`, because some collations don't sort ids by time.
        return self.filter(result_id__gte=prefix, result_id__lt=first, at__lt=since)

    def find(self, account: Account, result_id: str) -> "StoredResult | None":
        """Find the row with a result, unless it has expired. Rows are deleted up to a day later."""
        at, since = result_created_at(result_id), max(stored_since(), account.log_starts_at)
        # A mailbox check's result can be read for as long after its end.
        probes = Probe.objects.filter(Q(done_at=None) | Q(done_at__gt=since), account=account)
        if at is None or (at <= since and not probes.filter(result_id=result_id).exists()):
            return None
        rows = self.made_since(at).filter(account=account)
        entries = LogEntry.objects.filter(account=account).with_result(result_id).order_by("at")
        batch_id = Subquery(entries.values("batch_id")[:1])
        return rows.filter(result_id=result_id).first() or rows.filter(result_id=batch_id).first()

    def made_since(self, at: datetime) -> "StoredResultQuerySet":
        """Leave out the partitions of other days."""
        times = (at - MAX_CLOCK_DIFFERENCE, timezone.now() + MAX_CLOCK_DIFFERENCE)
        return self.filter(at__range=times)

    def of_requests(self, entries: models.QuerySet[LogEntry]) -> "StoredResultQuerySet":
        """Return the entries' results, expired ones included, without batches."""
        return self.filter(result_id__in=_recent(entries).values("result_id"))

    def of_batches_with(self, entries: models.QuerySet[LogEntry]) -> "StoredResultQuerySet":
        """Return the rows of the entries' batches, which have other entries' results too."""
        ids = _recent(entries).exclude(batch_id="").values("batch_id")
        return self.filter(result_id__in=ids)

    def bulk_insert(self, rows: Iterable[Row]) -> BulkInsert:
        now = timezone.now()
        return BulkInsert(
            self.model._meta.db_table,
            JsonTable.of_model(StoredResult),
            [(*row, now) for row in rows],
        )


class StoredResult(models.Model):
    """Stores a result, a batch's results, or the response to replay for an Idempotency-Key.

    Every metered call writes a row, so there is only one index: ids sort by time, so it also finds
    expired rows. A batch is found through the request log.
    """

    result_id = models.CharField(max_length=30, primary_key=True)
    # No constraint, for speed: the usage in the same transaction has one.
    account = models.ForeignKey(
        Account, on_delete=models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    # Packed by results/stored_results.py. Base64, because BulkInsert sends JSON.
    packed = models.TextField()
    at = models.DateTimeField(db_default=Now())

    objects = StoredResultQuerySet.as_manager()

    def __str__(self) -> str:
        return self.result_id


def stored_since() -> datetime:
    """Return the start of the retention, which is at most the request log's."""
    hours = min(settings.RESULT_RETENTION_HOURS, settings.LOG_RETENTION_DAYS * 24)
    return timezone.now() - timedelta(hours=hours)


def _recent(entries: models.QuerySet[LogEntry]) -> models.QuerySet[LogEntry]:
    return entries.order_by().filter(at__gte=stored_since() - _MAX_OVERDUE).exclude(result_id="")
