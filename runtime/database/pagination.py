"""Filters without an index apply to at most SCAN_LIMIT rows.

The page says where the scan stopped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, Self, TypeVar

from django.db.models import Model, Q, QuerySet

from runtime.database.pool import release_connection
from runtime.dates import from_microseconds, to_microseconds

PAGE_SIZE = 50
SCAN_LIMIT = 10_000
BATCH_SIZE = 2_000

Row = TypeVar("Row", bound=Model)


class Cursor(NamedTuple):
    """Start at a timestamp, after `seen` rows that have it."""

    at: datetime
    seen: int = 0

    def __str__(self) -> str:
        return f"{to_microseconds(self.at)}-{self.seen}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        number, _, seen = text.partition("-")
        at = from_microseconds(number)
        is_number = seen.isascii() and seen.isdecimal() and len(seen) < 5
        return cls(at, int(seen)) if at and is_number else None


@dataclass(frozen=True)
class Page(Generic[Row]):
    entries: list[Row]
    older: Cursor | None = None
    # Where a limited scan stopped.
    looked_back_to: datetime | None = None


def paginate(
    rows: QuerySet[Row],
    filters: Sequence[Q] = (),
    before: Cursor | None = None,
    *,
    scan_limit: int | None = None,
    page_size: int = PAGE_SIZE,
) -> Page[Row]:
    limit = scan_limit or SCAN_LIMIT
    rows = (rows.filter(at__lte=before.at) if before else rows).order_by("-at", "-pk")
    scan_end: datetime | None = None
    if filters:
        # The index contains the time, so no row is read.
        timestamps: Any = rows.order_by("-at").values_list("at", flat=True)
        scan_end = timestamps[limit : limit + 1].first()
        rows = rows.filter(*filters, **{"at__gte": scan_end} if scan_end else {})
    seen = before.seen if before else 0
    matches = list(rows[seen : seen + page_size + 1])
    entries = matches[:page_size]
    if len(matches) > page_size:
        return Page(entries, _cursor_after(entries, _at(entries[-1]), before))
    return Page(entries, _cursor_after(entries, scan_end, before) if scan_end else None, scan_end)


def iterate_all(rows: QuerySet[Row], filters: Sequence[Q] = ()) -> Iterator[Row]:
    """Fetch in batches, so a slow client holds no connection."""
    rows = rows.filter(*filters).order_by("-at", "-pk")
    batch = list(rows[:BATCH_SIZE])
    while batch:
        release_connection()
        yield from batch
        last = batch[-1]
        older = Q(at__lt=_at(last)) | Q(at=_at(last), pk__lt=last.pk)
        # The index needs the plain condition, which `older` implies.
        batch = list(rows.filter(Q(at__lte=_at(last)), older)[:BATCH_SIZE])


def _cursor_after(entries: list[Row], at: datetime, before: Cursor | None) -> Cursor:
    seen = sum(_at(row) == at for row in entries)
    if before and before.at == at:
        seen += before.seen
    return Cursor(at, seen)


def _at(row: Any) -> datetime:
    at: datetime = row.at
    return at
