"""Find requests and batches by id, not by address."""

import re

from accounts.date_display import exact_time
from accounts.staff.links import account_hit
from accounts.staff.panels import MAX_ROWS, SearchResults, require_staff_permissions
from validation.models import LogEntry

# Our request ids, and those that clients choose.
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@require_staff_permissions("validation.view_logentry", "accounts.view_account")
def find_requests(text: str) -> SearchResults:
    if not _REQUEST_ID.fullmatch(text):
        return SearchResults("Requests", [])
    # A client may send one id with all its requests. The index has this order.
    entries = LogEntry.objects.matching_id(text).order_by("-account_id", "-at")
    hits = [
        account_hit(
            entry,
            entry.request_id,
            f"{entry.status} {entry.verdict or entry.refusal or 'OK'}, {exact_time(entry.at)}",
        )
        for entry in entries.select_related("account")[:MAX_ROWS]
    ]
    return SearchResults("Requests", hits)
