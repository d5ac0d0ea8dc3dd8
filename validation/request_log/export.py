from accounts.models import Account
from validation.models import LogEntry

_FIELDS = (
    *("at", "key__public_id", "request_id", "result_id", "path", "status", "refusal", "address"),
    *("domain", "verdict", "reason", "score", "cost", "duration_ms", "sandbox", "replayed"),
)


def export_requests(*, account: Account) -> dict[str, object]:
    """Export the stored requests. A hook."""
    entries = LogEntry.objects.retained_for(account).order_by("at", "pk")
    return {"requests": list(entries.values(*_FIELDS))}
