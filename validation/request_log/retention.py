from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import Account
from runtime.database import batches
from runtime.database.batches import delete_in_batches
from validation.ids import BATCH_PREFIX, RESPONSE_PREFIX, RESULT_PREFIX
from validation.models import LogEntry, Replay, StoredResult
from validation.models.replays import REPLAY_RETENTION
from validation.models.stored_results import stored_since
from validation.partitions import LOG, RESULTS


def delete_old_replays() -> None:
    delete_in_batches(Replay.objects.expired().unlogged_responses())
    delete_in_batches(Replay.objects.expired())


def delete_old_results() -> None:
    """Drop fully expired days on PostgreSQL, then delete other results."""
    since = stored_since()
    replayable_since = timezone.now() - REPLAY_RETENTION
    RESULTS.drop_partitions(before=min(since, replayable_since))
    replays = Replay.objects.live().filter(created_at__lte=since)
    for prefix in (RESULT_PREFIX, BATCH_PREFIX):
        delete_in_batches(_without(replays, StoredResult.objects.expired(prefix, since)))
    delete_in_batches(StoredResult.objects.expired(RESPONSE_PREFIX, replayable_since))


def delete_old_log_entries() -> None:
    before = timezone.now() - timedelta(days=settings.LOG_RETENTION_DAYS)
    LOG.drop_partitions(before=before)
    if not LOG.is_partitioned():
        _delete_from_the_oldest(before=before)
    for account in Account.objects.exclude(log_since=None):
        old = LogEntry.objects.filter(account=account, at__lte=account.log_starts_at)
        replays = Replay.objects.live().filter(account=account)
        delete_in_batches(_without(replays, StoredResult.objects.of_requests(old)))
        delete_in_batches(_without(replays, StoredResult.objects.of_batches_with(old)))
        old.delete_in_batches()


def _without(replays: QuerySet[Replay], results: QuerySet[StoredResult]) -> QuerySet[StoredResult]:
    return results.exclude(Exists(replays.filter(result_id=OuterRef("result_id"))))


def _delete_from_the_oldest(*, before: datetime) -> None:
    """Delete until a batch has no old row: primary keys follow the time within seconds."""
    last = 0
    while True:
        newer = LogEntry.objects.filter(pk__gt=last).order_by("pk")
        batch = list(newer.values_list("pk", "at")[: batches.BATCH_SIZE])
        if not any(at <= before for _, at in batch):
            return
        first, last = batch[0][0], batch[-1][0]
        LogEntry.objects.filter(pk__gte=first, pk__lte=last, at__lte=before).delete()
