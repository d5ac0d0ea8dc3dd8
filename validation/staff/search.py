"""Find requests, batches and lists for the admin's search box by id, not by address."""

import re

from accounts.date_display import exact_time
from accounts.staff.panels import (
    MAX_ROWS,
    Hit,
    SearchResults,
    admin_link,
    require_staff_permissions,
)
from validation.models import AddressList, LogEntry

# Our request ids, and those that clients choose.
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@require_staff_permissions("validation.view_logentry", "accounts.view_account")
def find_requests(text: str) -> SearchResults:
    if not _REQUEST_ID.fullmatch(text):
        return SearchResults("Requests", [])
    # A client may send one id with all its requests. The index has this order.
    entries = LogEntry.objects.matching_id(text).order_by("-account_id", "-at")
    return SearchResults(
        "Requests", [_hit(entry) for entry in entries.select_related("account")[:MAX_ROWS]]
    )


def _hit(entry: LogEntry) -> Hit:
    outcome = entry.verdict or entry.refusal or "OK"
    summary = f"{entry.status} {outcome}, {exact_time(entry.at)}"
    return Hit(
        admin_link(entry, entry.request_id), summary, [admin_link(entry.account)], is_exact=True
    )


@require_staff_permissions("validation.view_addresslist", "accounts.view_account")
def find_lists(text: str) -> SearchResults:
    lists = AddressList.objects.none()
    if text.startswith("lst_"):
        lists = AddressList.objects.filter(public_id=text).select_related("account")
    return SearchResults(
        "Lists", [_list_hit(address_list) for address_list in lists.defer("preview")]
    )


def _list_hit(address_list: AddressList) -> Hit:
    summary = f"{address_list.state}, {address_list.addresses:,} addresses"
    return Hit(
        admin_link(address_list, address_list.public_id),
        summary,
        [admin_link(address_list.account)],
        is_exact=True,
    )
