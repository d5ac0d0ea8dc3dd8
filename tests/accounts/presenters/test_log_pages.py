"""Links and empty states of the audit log and the request log."""

from datetime import UTC, datetime

from accounts.audit.models import AuditEntry
from accounts.presenters.elements import EmptyState
from accounts.presenters.log_pages import empty_log, log_links
from runtime.database.pagination import Cursor, Page

MOMENT = datetime(2026, 11, 20, 8, 5, 9, tzinfo=UTC)
OLDER = Cursor(MOMENT, 2)
NEVER = EmptyState("No entries yet.", "They will appear here.")
ENTRIES = [AuditEntry()]


def empty(page: Page[AuditEntry], *, is_filtered: bool = False) -> EmptyState | None:
    return empty_log(page, noun="entries", is_filtered=is_filtered, never=NEVER)


def test_links_keep_the_filters_and_end_with_the_log() -> None:
    links = log_links(Page(ENTRIES), "", is_first=True)
    assert (links.newest, links.older, links.note) == (None, None, "")
    links = log_links(Page(ENTRIES, OLDER), "who=a+b", is_first=False)
    assert (links.newest, links.older) == ("who=a+b", f"who=a+b&before={OLDER}")
    assert log_links(Page(ENTRIES, OLDER), "", is_first=False).older == f"before={OLDER}"


def test_page_at_the_scan_limit_says_how_far_it_searched() -> None:
    some = log_links(Page(ENTRIES, OLDER, MOMENT), "", is_first=True)
    assert (some.older_label, some.note) == ("Older", "Searched back to 20 Nov 2026, 08:05:09 UTC")
    none = log_links(Page([], OLDER, MOMENT), "", is_first=True)
    assert (none.older_label, none.note) == ("Search further back", "")
    shown = empty(Page([], OLDER, MOMENT), is_filtered=True)
    assert shown is not None
    assert shown.headline == "No matching entries so far."
    assert "searched back to 20 Nov 2026, 08:05:09 UTC." in shown.text


def test_empty_log_distinguishes_filters_from_no_entries_at_all() -> None:
    assert empty(Page(ENTRIES)) is None
    assert empty(Page([])) == NEVER
    filtered = empty(Page([]), is_filtered=True)
    assert filtered == EmptyState("No matching entries.", "Remove a filter or pick another day.")
