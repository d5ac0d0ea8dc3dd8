from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import Account
from runtime.database.batches import BATCH, delete_in_batches
from validation.models import LogEntry, Replay


def delete_old_replays() -> None:
    delete_in_batches(Replay.objects.outdated())


def delete_old_log_entries() -> None:
    now = timezone.now()
    longest = settings.LOG_RETENTION_DAYS
    _delete_from_the_oldest(before=now - timedelta(days=longest))
    for account in Account.objects.exclude(log_since=None):
        # In the order of the index, so that the first batch is found without reading the others.
        old = LogEntry.objects.filter(account=account, at__lte=account.log_begins).order_by("-at")
        delete_in_batches(old)


def _delete_from_the_oldest(*, before: datetime) -> None:
    """Rows are as old as their primary key says, but for seconds: no index on the time is needed
    to find the old ones, and the walk ends where none is left."""
    last = 0
    while True:
        rows = LogEntry.objects.filter(pk__gt=last).order_by("pk")
        batch = list(rows.values_list("pk", "at")[:BATCH])
        if not any(at <= before for _, at in batch):
            return
        first, last = batch[0][0], batch[-1][0]
        LogEntry.objects.filter(pk__gte=first, pk__lte=last, at__lte=before).delete()


def forget_requests(*, account: Account) -> None:
    """Seam: an account is erased. What was used stays in the books, without any address."""
    LogEntry.objects.filter(account=account).delete()
    Replay.objects.filter(account=account).delete()
