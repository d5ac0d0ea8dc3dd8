from dataclasses import dataclass
from urllib.parse import urlencode

from accounts.date_display import exact_time
from accounts.presenters.elements import EmptyState
from runtime.database.pagination import Page, Row


@dataclass(frozen=True)
class LogLinks:
    """Links below a log, as query strings. None: no link."""

    newest: str | None
    older: str | None
    older_label: str
    note: str


def log_links(page: Page[Row], query: str, *, is_first: bool) -> LogLinks:
    older = urlencode({"before": str(page.older)}) if page.older else ""
    nothing_yet = page.looked_back_to and not page.entries
    return LogLinks(
        newest=None if is_first else query,
        older="&".join(filter(None, (query, older))) if older else None,
        older_label="Search further back" if nothing_yet else "Older",
        note=f"Searched back to {exact_time(page.looked_back_to)}"
        if page.looked_back_to and page.entries
        else "",
    )


def empty_log(
    page: Page[Row], *, noun: str, is_filtered: bool, never: EmptyState
) -> EmptyState | None:
    """`never` is shown without a filter."""
    if page.entries:
        return None
    if page.looked_back_to:
        text = f"We searched back to {exact_time(page.looked_back_to)}. There are older {noun}."
        return EmptyState(f"No matching {noun} so far.", text)
    if is_filtered:
        return EmptyState(f"No matching {noun}.", "Remove a filter or pick another day.")
    return never
