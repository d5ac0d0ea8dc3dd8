"""What staff find of requests from the one box of the admin. Addresses are not looked for here."""

import re

from accounts.staff.panels import MAX_ROWS, Findings, Hit, link_to, require_staff_permissions
from validation.models import LogEntry

# Ours, or a client's own.
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@require_staff_permissions("validation.view_logentry", "accounts.view_account")
def find_requests(text: str) -> Findings:
    if not _REQUEST_ID.fullmatch(text):
        return Findings("Requests", [])
    # A client may give all its requests the same id: this is the order of the index.
    found = LogEntry.objects.named(text).order_by("-account_id", "-at")
    return Findings(
        "Requests", [_hit(entry) for entry in found.select_related("account")[:MAX_ROWS]]
    )


def _hit(entry: LogEntry) -> Hit:
    outcome = entry.verdict or entry.refusal or "answered"
    words = f"{entry.status} {outcome}, {entry.at:%d %b %Y, %H:%M:%S} UTC"
    return Hit(link_to(entry, entry.request_id), words, [link_to(entry.account)], is_exact=True)
