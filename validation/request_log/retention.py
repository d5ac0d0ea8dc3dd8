from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import Account
from runtime.database.batches import BATCH_SIZE, delete_in_batches
from validation.ids import BATCH_PREFIX, RESULT_PREFIX
from validation.models import LogEntry, Replay, StoredResult


def delete_old_replays() -> None:
    delete_in_batches(Replay.objects.expired())


def delete_old_results() -> None:
    for prefix in (RESULT_PREFIX, BATCH_PREFIX):
        delete_in_batches(StoredResult.objects.expired(prefix))


def delete_old_log_entries() -> None:
    now = timezone.now()
    _delete_from_the_oldest(before=now - timedelta(days=settings.LOG_RETENTION_DAYS))
    for account in Account.objects.exclude(log_since=None):
        # Sorted like the index, so that the first batch is found without reading other rows.
        old = LogEntry.objects.filter(account=account, at__lte=account.log_starts_at).order_by(
            "-at"
        )
        # While their entries are there to find them.
        delete_in_batches(StoredResult.objects.of_requests(old))
        delete_in_batches(StoredResult.objects.of_batches_with(old))
        delete_in_batches(old)


def _delete_from_the_oldest(*, before: datetime) -> None:
    """Delete in batches by primary key, and stop at the first batch without an old row.

    Primary keys follow the time within seconds, so no index on the time alone is needed.
    """
    last = 0
    while True:
        rows = LogEntry.objects.filter(pk__gt=last).order_by("pk")
        batch = list(rows.values_list("pk", "at")[:BATCH_SIZE])
        if not any(at <= before for _, at in batch):
            return
        first, last = batch[0][0], batch[-1][0]
        LogEntry.objects.filter(pk__gte=first, pk__lte=last, at__lte=before).delete()


def delete_requests(*, account: Account) -> None:
    """Delete the requests, results and replays of an erased account. Usage stays. A hook."""
    entries = LogEntry.objects.filter(account=account)
    StoredResult.objects.of_requests(entries).delete()
    StoredResult.objects.of_batches_with(entries).delete()
    entries.delete()
    Replay.objects.filter(account=account).delete()
