"""Say in which state a list is, how far it is, and what a member can do with it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.template.defaultfilters import pluralize

from accounts.date_display import date_format
from accounts.presenters.elements import Badge, EmptyState
from credits.money import format_credits
from validation.engine.verdicts.reasons import Verdict
from validation.lists.api.documents import sum_charges
from validation.lists.control import MAX_PAUSE
from validation.lists.results.downloads import DownloadFormat
from validation.lists.results.reading import ResultFilter
from validation.models import AddressList
from validation.models.list_states import FINAL, HOLDING_CREDITS, WORKABLE, State

_BADGES = {
    State.UPLOADING: Badge("Uploading"),
    State.PARSING: Badge("Reading file"),
    State.READY: Badge("Ready to start"),
    State.QUEUED: Badge("Queued"),
    State.RUNNING: Badge("Running"),
    State.PAUSED: Badge("Paused", "risky", "triangle-alert"),
    State.RECHECKING: Badge("Rechecking"),
    State.COMPLETED: Badge("Completed", "deliverable", "circle-check"),
    State.CANCELED: Badge("Canceled"),
    State.FAILED: Badge("Failed", "undeliverable", "circle-x"),
    State.EXPIRED: Badge("Expired"),
}
_INTROS = {
    State.UPLOADING: "Waiting for the rest of the file. It is deleted if it takes more than a day.",
    State.PARSING: "We're reading the file and counting addresses and duplicates.",
    State.READY: "Check the column and the numbers, then start the list. It hasn't cost anything.",
    "starting": "The list starts in a moment.",
    "no addresses": "The chosen column has no addresses. Nothing was charged.",
    State.QUEUED: "The list is waiting for its turn. It starts automatically.",
    State.RUNNING: "Addresses are being checked. You can leave this page.",
    State.RECHECKING: "All addresses have a result, and you can download them. Unknown ones are "
    "checked again.",
}
# Results are complete enough to download. While unknown ones are checked again, only these change.
_DOWNLOADABLE = frozenset(
    {State.RECHECKING, State.COMPLETED, State.CANCELED, State.FAILED, State.PAUSED}
)
_FILE_ENDING = re.compile(r"\.(csv|tsv|txt|xlsx)$", re.IGNORECASE)
_UNREAD = frozenset({State.UPLOADING, State.PARSING})
NO_LISTS = EmptyState(
    "No lists yet.",
    "Upload a file of addresses, and see its price before it costs anything. Every address gets a "
    "verdict, and you download your file with the results added.",
)
NO_LISTS_FOR_READERS = EmptyState(
    "No lists yet.",
    "Files of addresses that an owner, admin, or developer uploads will appear here.",
)


@dataclass(frozen=True)
class Share:
    """A verdict's part of a bar of 100 units."""

    verdict: str
    count: int
    start: float
    percent: float


@dataclass(frozen=True)
class Amount:
    number: str
    # Shown on a phone, where the column has no heading.
    unit: str


@dataclass(frozen=True)
class ListRow:
    """A list as the table shows it."""

    address_list: AddressList

    @property
    def badge(self) -> Badge:
        return state_badge(self.address_list)

    @property
    def meter(self) -> int | None:
        """The percentage of checked addresses while the list is in progress."""
        return (
            find_percent(self.address_list) if self.address_list.state in HOLDING_CREDITS else None
        )

    @property
    def shares(self) -> list[Share]:
        return find_shares(self.address_list)

    @property
    def shares_text(self) -> str:
        return describe_shares(self.shares)

    @property
    def rows(self) -> Amount | None:
        rows = self.address_list.rows
        return Amount(f"{rows:,}", f"row{pluralize(rows)}") if rows else None

    @property
    def charged(self) -> Amount | None:
        if self.address_list.started_at is None:
            return None
        charged = count_charged(self.address_list)
        return Amount(f"{charged:,}", f"credit{pluralize(charged)}")


def list_phase(address_list: AddressList) -> str:
    """Return what the list is doing. When it changes, its page looks different."""
    if address_list.state == State.READY and address_list.starts_when_ready:
        return "starting"
    return address_list.state


def state_badge(address_list: AddressList) -> Badge:
    return _BADGES[State(address_list.state)]


def is_moving(address_list: AddressList) -> bool:
    """Return whether the page changes although no member does anything."""
    moving = WORKABLE | _UNREAD
    return address_list.state in moving or list_phase(address_list) == "starting"


def may_pause(address_list: AddressList) -> bool:
    return address_list.state in WORKABLE


def may_cancel(address_list: AddressList) -> bool:
    return address_list.state in HOLDING_CREDITS


def may_download(address_list: AddressList) -> bool:
    return address_list.state in _DOWNLOADABLE and bool(address_list.checked)


def name_download(
    address_list: AddressList, wanted: ResultFilter, file_format: DownloadFormat
) -> str:
    """Return the file's name: “Customers.csv” becomes “Customers-results.csv”."""
    stem = _FILE_ENDING.sub("", address_list.name)
    part = "results" if wanted is ResultFilter.ALL else wanted
    return f"{stem}-{part}.{file_format}"


def find_percent(address_list: AddressList) -> int:
    """Return the share of checked addresses, rounded down."""
    if not address_list.addresses:
        return 0
    return 100 * address_list.checked // address_list.addresses


def find_shares(address_list: AddressList) -> list[Share]:
    """Return each verdict's share of the checked addresses, or nothing if there are none."""
    return list(_iterate_shares(address_list)) if address_list.checked else []


def _iterate_shares(address_list: AddressList) -> Iterator[Share]:
    start = 0.0
    for verdict in Verdict:
        count: int = getattr(address_list, verdict.value)
        percent = 100 * count / address_list.checked
        yield Share(verdict.value, count, start, percent)
        start += percent


def describe_shares(shares: list[Share]) -> str:
    return ", ".join(f"{share.percent:.1f}% {share.verdict}" for share in shares)


def count_charged(address_list: AddressList) -> int:
    """Return what the list has cost. Select its `hold` in the query of the list."""
    hold = address_list.hold
    return sum_charges(address_list.public_id, hold) if hold else 0


def describe_state(address_list: AddressList) -> str:
    """Say what happens to the list now, or what happened to it."""
    phase = list_phase(address_list)
    if phase == State.READY and not address_list.addresses:
        phase = "no addresses"
    return _INTROS.get(phase) or _describe_end(address_list)


def _describe_end(address_list: AddressList) -> str:
    match address_list.state:
        case State.PAUSED:
            return _describe_pause(address_list)
        case State.COMPLETED:
            return f"Completed{_on(address_list.finished_at)}."
        case State.CANCELED:
            return f"Canceled{_on(address_list.finished_at)}. Its unused credits were released."
        case State.FAILED:
            return address_list.error_message
        case _:
            return f"The results were deleted{_on(address_list.expires_at)}. The counts stay."


def _describe_pause(address_list: AddressList) -> str:
    reason = address_list.error_message or "Resume the list to check the rest."
    if address_list.paused_at is None:
        return reason
    day = date_format(address_list.paused_at + MAX_PAUSE)
    return f"{reason} If it isn't resumed by {day}, it's canceled."


def describe_deletion(address_list: AddressList) -> str:
    """Say when the list's rows and results are deleted, or nothing if it has none."""
    is_deleted = not address_list.rows or address_list.state == State.EXPIRED
    if address_list.expires_at is None or is_deleted:
        return ""
    if address_list.state == State.READY:
        return f"If it isn't started, its rows are deleted{_on(address_list.expires_at)}."
    return f"Its rows and results are deleted{_on(address_list.expires_at)}."


def describe_progress(address_list: AddressList) -> str:
    return (
        f"{address_list.checked:,} of {address_list.addresses:,} "
        f"address{pluralize(address_list.addresses, 'es')} checked"
    )


def describe_speed(address_list: AddressList, now: datetime) -> str:
    """Say how fast a list runs and when it's done, or when unknown results are checked again."""
    if address_list.state == State.RECHECKING and address_list.recheck_at is not None:
        left = max(address_list.recheck_at - now, timedelta())
        return f"Next check of unknown addresses {_in(left)}."
    is_running = address_list.state == State.RUNNING and address_list.checked
    if not is_running or address_list.started_at is None:
        return ""
    elapsed = max((now - address_list.started_at).total_seconds(), 1.0)
    rate = address_list.checked / elapsed
    left = timedelta(seconds=(address_list.addresses - address_list.checked) / rate)
    return f"{_format_rate(rate)} on average. Done {_in(left)}."


def _format_rate(per_second: float) -> str:
    is_fast = per_second >= 1
    number = max(1, round(per_second if is_fast else per_second * 60))
    unit = "second" if is_fast else "minute"
    return f"{number:,} address{pluralize(number, 'es')} per {unit}"


def _in(duration: timedelta) -> str:
    seconds = duration.total_seconds()
    if seconds < 60:
        return "in less than a minute"
    if seconds < 3600:
        return _about(round(seconds / 60), "minute")
    return _about(round(seconds / 3600), "hour")


def _about(number: int, unit: str) -> str:
    return f"in about {number} {unit}{pluralize(number)}"


def _on(moment: datetime | None) -> str:
    return f" on {date_format(moment)}" if moment else ""


def deletion_consequences(address_list: AddressList) -> list[str]:
    """Say what deleting the list does, for the page that asks before."""
    sentences = ["This erases its file and all results. You can't undo this."]
    if address_list.state not in FINAL:
        sentences.append("Checks that aren't done are canceled.")
    if address_list.hold and address_list.hold.is_open:
        held = address_list.hold.remaining
        returned = pluralize(held, "returns,return")
        sentences.append(f"{format_credits(held)} held for the list {returned} to your balance.")
    if count_charged(address_list):
        sentences.append("Credits for addresses that were checked aren't refunded.")
    return sentences
