from accounts.models import Account
from validation.models import LogEntry, Replay, StoredResult

_FIELDS = (
    *("at", "key__public_id", "request_id", "result_id", "path", "status", "refusal", "address"),
    *("domain", "verdict", "reason", "score", "cost", "duration_ms", "sandbox", "replayed"),
)


def export_requests(*, account: Account) -> dict[str, object]:
    """Export the stored requests. A hook."""
    entries = LogEntry.objects.retained_for(account).order_by("at", "pk")
    return {"requests": list(entries.values(*_FIELDS))}


def delete_requests(*, account: Account) -> None:
    """Delete the data of an erased account, except usage. A hook."""
    entries = LogEntry.objects.filter(account=account)
    StoredResult.objects.of_requests(entries).delete()
    StoredResult.objects.of_batches_with(entries).delete()
    entries.delete()
    replays = Replay.objects.filter(account=account)
    replays.responses().delete()
    replays.delete()
