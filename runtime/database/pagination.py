"""Pages of rows by time, newest first, that stay fast however many rows there are.

Nothing is counted, and a page begins where the one before ended. What an index finds is walked
along; other conditions are applied to a bounded stretch of that walk, whose end the page tells, so
that one can go on from there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, Self, TypeVar

from django.db.models import Model, Q, QuerySet

from runtime.database.pool import release_connection
from runtime.dates import from_microseconds, to_microseconds

PAGE = 50
SCAN_LIMIT = 10_000
# Rows that one query of a download brings.
BATCH = 2_000

Row = TypeVar("Row", bound=Model)


class Cursor(NamedTuple):
    """Where a page begins: at this moment, after so many rows of the same moment."""

    at: datetime
    seen: int = 0

    def __str__(self) -> str:
        return f"{to_microseconds(self.at)}-{self.seen}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        number, _, seen = text.partition("-")
        at = from_microseconds(number)
        plain = seen.isascii() and seen.isdecimal() and len(seen) < 5
        return cls(at, int(seen)) if at and plain else None


@dataclass(frozen=True)
class Page(Generic[Row]):
    entries: list[Row]
    # Where the next one begins.
    older: Cursor | None = None
    # Nothing older than this was looked at, though there is more.
    looked_back_to: datetime | None = None


def paginate(
    walked: QuerySet[Row],
    others: Sequence[Q] = (),
    before: Cursor | None = None,
    *,
    stretch: int | None = None,
) -> Page[Row]:
    """Of rows that an index finds in the order of `at`; the other conditions have none."""
    most = stretch or SCAN_LIMIT
    rows = _from(walked, before).order_by("-at", "-pk")
    end: datetime | None = None
    if others:
        moments: Any = rows.values_list("at", flat=True)
        end = moments[most : most + 1].first()
        rows = rows.filter(*others, **{"at__gte": end} if end else {})
    seen = before.seen if before else 0
    found = list(rows[seen : seen + PAGE + 1])
    shown = found[:PAGE]
    if len(found) > PAGE:
        return Page(shown, _after(shown, _at(shown[-1]), before))
    return Page(shown, _after(shown, end, before) if end else None, end)


def iterate_all(walked: QuerySet[Row], others: Sequence[Q] = ()) -> Iterator[Row]:
    """For a download, in batches: whoever reads slowly holds no connection meanwhile."""
    rows = walked.filter(*others).order_by("-at", "-pk")
    batch = list(rows[:BATCH])
    while batch:
        release_connection()
        yield from batch
        last = batch[-1]
        older = Q(at__lt=_at(last)) | Q(at=_at(last), pk__lt=last.pk)
        # The first condition says the same more loosely, and is what the index understands.
        batch = list(rows.filter(Q(at__lte=_at(last)), older)[:BATCH])


def _from(rows: QuerySet[Row], before: Cursor | None) -> QuerySet[Row]:
    return rows.filter(at__lte=before.at) if before else rows


def _after(shown: list[Row], at: datetime, before: Cursor | None) -> Cursor:
    of_this_moment = sum(_at(row) == at for row in shown)
    if before and before.at == at:
        of_this_moment += before.seen
    return Cursor(at, of_this_moment)


def _at(row: Any) -> datetime:
    at: datetime = row.at
    return at
