from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import Account
from runtime.database import batches
from runtime.database.batches import delete_in_batches
from validation.ids import BATCH_PREFIX, RESULT_PREFIX
from validation.models import LogEntry, Replay, StoredResult
from validation.models.log_entries import LogEntryQuerySet
from validation.models.stored_results import stored_since
from validation.partitions import LOG, RESULTS


def delete_old_replays() -> None:
    delete_in_batches(Replay.objects.expired())


def delete_old_results() -> None:
    """Delete expired results. On PostgreSQL, this drops the days that have expired completely.

    Those of the current day are deleted one by one: few, if this runs soon after midnight.
    """
    RESULTS.drop_partitions(before=stored_since())
    for prefix in (RESULT_PREFIX, BATCH_PREFIX):
        delete_in_batches(StoredResult.objects.expired(prefix))


def delete_old_log_entries() -> None:
    """Delete what is older than the operator's retention, or than that of an account.

    On PostgreSQL, days are dropped once they are over completely.
    """
    before = timezone.now() - timedelta(days=settings.LOG_RETENTION_DAYS)
    LOG.drop_partitions(before=before)
    _delete_from_the_oldest(_rows_to_delete_one_by_one(), before=before)
    for account in Account.objects.exclude(log_since=None):
        old = LogEntry.objects.filter(account=account, at__lte=account.log_starts_at)
        # While their entries are there to find them.
        delete_in_batches(StoredResult.objects.of_requests(old))
        delete_in_batches(StoredResult.objects.of_batches_with(old))
        old.delete_in_batches()


def _rows_to_delete_one_by_one() -> LogEntryQuerySet:
    """Return the rows that no dropped day contains: on PostgreSQL, those of the first partition."""
    if not LOG.is_partitioned():
        return LogEntry.objects.all()
    first = [partition.end for partition in LOG.list_partitions() if partition.is_first]
    return LogEntry.objects.filter(at__lt=first[0]) if first else LogEntry.objects.none()


def _delete_from_the_oldest(rows: LogEntryQuerySet, *, before: datetime) -> None:
    """Delete in batches by primary key, and stop at the first batch without an old row.

    Primary keys follow the time within seconds, so no index on the time alone is needed.
    """
    last = 0
    while True:
        newer = rows.filter(pk__gt=last).order_by("pk")
        batch = list(newer.values_list("pk", "at")[: batches.BATCH_SIZE])
        if not any(at <= before for _, at in batch):
            return
        first, last = batch[0][0], batch[-1][0]
        rows.filter(pk__gte=first, pk__lte=last, at__lte=before).delete()


def delete_requests(*, account: Account) -> None:
    """Delete the requests, results and replays of an erased account. Usage stays. A hook."""
    entries = LogEntry.objects.filter(account=account)
    StoredResult.objects.of_requests(entries).delete()
    StoredResult.objects.of_batches_with(entries).delete()
    entries.delete()
    Replay.objects.filter(account=account).delete()
