from accounts.models import Account
from lists.models import AddressList

_FIELDS = (
    *("public_id", "name", "state", "key__public_id", "created_by", "metadata", "dedupe"),
    *("bytes", "rows", "empty", "not_address", "bad_syntax", "duplicates", "addresses"),
    *("checked", "deliverable", "risky", "undeliverable", "unknown", "safe", "reasons", "typos"),
    *("created_at", "started_at", "results_at", "finished_at", "expires_at"),
)


def export_lists(*, account: Account) -> dict[str, object]:
    lists = AddressList.objects.filter(account=account).order_by("created_at", "pk")
    return {"lists": list(lists.values(*_FIELDS))}
