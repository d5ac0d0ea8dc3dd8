import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.forms import Form
from django.template.defaultfilters import pluralize

from accounts.date_display import date_format
from accounts.presenters.elements import EmptyState
from apikeys.errors import REFUSALS, ApiError
from credits.money import format_credits
from lists.lifecycle import MAX_PAUSE
from lists.models import AddressList
from lists.models.progress import WORK_PER_DOMAIN
from lists.models.states import FINAL, ListState
from lists.results.downloads import DownloadFormat
from lists.results.reading import ResultFilter

NO_LISTS = EmptyState(
    "No lists yet.",
    "Upload a file of addresses, and see its price before it costs anything. Every address gets a "
    "verdict, and you download your file with the results added.",
)
NO_LISTS_FOR_READERS = EmptyState(
    "No lists yet.",
    "Files of addresses that an owner, admin, or developer uploads will appear here.",
)
NO_MATCHING_LISTS = EmptyState("No matching lists.", "Remove a filter or search for another name.")
# By `AddressList.phase`.
_INTROS: dict[str, str] = {
    ListState.UPLOADING: "Waiting for the rest of the file. It is deleted if it takes more than a "
    "day.",
    ListState.PARSING: "We're reading the file and counting addresses and duplicates.",
    ListState.READY: "Check the column and the numbers, then start the list. It hasn't cost "
    "anything.",
    ListState.QUEUED: "The list is waiting for its turn. It starts automatically.",
    ListState.RUNNING: "Addresses are being checked. You can leave this page.",
    ListState.RECHECKING: "All addresses have a result, and you can download them. Unknown ones "
    "are checked again.",
}
# The API's messages name parameters.
_REFUSALS = {
    "invalid_state": "The list has changed. This page shows its current state.",
    "confirmation_required": "Most cells in this column aren't addresses. Choose another column, "
    "or confirm that you want to start.",
    "insufficient_credits": "Your balance doesn't cover the list. Buy credits, then try again.",
    "account_suspended": "The account is suspended, so its lists can't run.",
}
_UPLOAD_REFUSALS = {
    "invalid_state": "This upload has ended. Reload the page, and upload the file again.",
    "part_conflict": "The file has changed since its upload began. Cancel the upload, and start "
    "again.",
    "invalid_field": "A part of the file arrived damaged. Try again.",
}
_FILE_ENDING = re.compile(r"\.(csv|tsv|txt|xlsx)$", re.IGNORECASE)


def describe_state(address_list: AddressList) -> str:
    phase = address_list.phase
    if phase == ListState.READY and not address_list.addresses:
        return "The chosen column has no addresses. Nothing was charged."
    if phase == ListState.PAUSED:
        reason = address_list.error_message or "Resume the list to check the rest."
        if address_list.paused_at is None:
            return reason
        day = date_format(address_list.paused_at + MAX_PAUSE)
        return f"{reason} If it isn't resumed by {day}, it's canceled."
    if phase == ListState.FAILED:
        return address_list.error_message
    finished, expired = _on(address_list.finished_at), _on(address_list.expires_at)
    ends = {
        ListState.COMPLETED: f"Completed{finished}.",
        ListState.CANCELED: f"Canceled{finished}. Its unused credits were released.",
        ListState.EXPIRED: f"The results were deleted{expired}. The counts stay.",
    }
    return (_INTROS | ends)[phase]


def describe_deletion(address_list: AddressList) -> str:
    is_deleted = not address_list.rows or address_list.state == ListState.EXPIRED
    if address_list.expires_at is None or is_deleted:
        return ""
    if address_list.state == ListState.READY:
        return f"If it isn't started, its rows are deleted{_on(address_list.expires_at)}."
    return f"Its rows and results are deleted{_on(address_list.expires_at)}."


def describe_progress(address_list: AddressList) -> str:
    if address_list.started_at is None:
        rows = address_list.rows
        return f"{rows:,} row{pluralize(rows)} read" if rows else ""
    looked_up, domains = address_list.domains_checked, address_list.domains
    if looked_up < domains:
        return f"{looked_up:,} of {domains:,} domain{pluralize(domains)} looked up"
    if address_list.is_checking_mailboxes:
        answered, mailboxes = address_list.mailboxes_checked, address_list.mailboxes
        return f"{answered:,} of {mailboxes:,} mailbox{pluralize(mailboxes, 'es')} checked"
    return (
        f"{address_list.checked:,} of {address_list.addresses:,} "
        f"address{pluralize(address_list.addresses, 'es')} checked"
    )


def describe_speed(address_list: AddressList) -> str:
    if address_list.rechecks_end_at is not None:
        unknown = address_list.unknown
        addresses = pluralize(unknown, "address is,addresses are")
        end = date_format(address_list.rechecks_end_at, "TIME_FORMAT")
        return f"{unknown:,} unknown {addresses} checked again until {end}."
    if address_list.is_checking_mailboxes:
        seconds = address_list.seconds_left
        done = f" Done {_in(timedelta(seconds=seconds))}." if seconds is not None else ""
        return f"Mail servers are asked at the pace of each.{done}"
    speed, seconds_left = address_list.speed, address_list.seconds_left
    if speed is None or seconds_left is None:
        return ""
    is_looking_up = address_list.domains_checked < address_list.domains
    rate = speed / WORK_PER_DOMAIN if is_looking_up else speed
    number, unit = (rate, "second") if rate >= 1 else (rate * 60, "minute")
    shown = max(1, round(number))
    things = pluralize(shown, "domain,domains" if is_looking_up else "address,addresses")
    return f"{shown:,} {things} per {unit}. Done {_in(timedelta(seconds=seconds_left))}."


def deletion_consequences(lists: Sequence[AddressList]) -> list[str]:
    files, noun = pluralize(lists, "its file,their files"), pluralize(lists, "list,lists")
    sentences = [f"This erases {files} and all results. You can't undo this."]
    if any(address_list.state not in FINAL for address_list in lists):
        sentences.append("Checks that aren't done are canceled.")
    held = sum(each.hold.remaining for each in lists if each.hold and each.hold.is_open)
    if held:
        returned = pluralize(held, "returns,return")
        sentences.append(f"{format_credits(held)} held for the {noun} {returned} to your balance.")
    if any(address_list.charged for address_list in lists):
        sentences.append("Credits for addresses that were checked aren't refunded.")
    return sentences


def name_download(
    address_list: AddressList, wanted: ResultFilter, file_format: DownloadFormat
) -> str:
    """Return the file's name: “Customers.csv” becomes “Customers-results.csv”."""
    stem = _FILE_ENDING.sub("", address_list.name)
    part = "results" if wanted is ResultFilter.ALL else wanted
    return f"{stem}-{part}.{file_format}"


def describe_refusal(error: ApiError) -> str:
    if error.param in {"column", "encoding"} and error.message:
        return error.message
    return _REFUSALS.get(error.code) or error.message or REFUSALS[error.code].message


def describe_upload_refusal(error: ApiError) -> str:
    return _UPLOAD_REFUSALS.get(error.code) or describe_refusal(error)


def describe_form_error(form: Form) -> str:
    name, messages = next(iter(form.errors.items()))
    label = form.fields[name].label if name in form.fields else None
    return f"{label or name.replace('_', ' ').capitalize()}: {messages[0]}"


def _in(duration: timedelta) -> str:
    seconds = duration.total_seconds()
    if seconds < 60:
        return "in less than a minute"
    unit, length = ("minute", 60) if seconds < 3600 else ("hour", 3600)
    number = round(seconds / length)
    return f"in about {number} {unit}{pluralize(number)}"


def _on(moment: datetime | None) -> str:
    return f" on {date_format(moment)}" if moment else ""
