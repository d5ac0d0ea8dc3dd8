from collections.abc import Iterator

from accounts import audit
from accounts.models import User
from runtime.csv_download import Row, to_cell
from runtime.database.pagination import BATCH_SIZE
from runtime.database.pool import release_connection
from runtime.database.replica import reads_replica
from validation.models import LogEntry
from validation.request_log.filters import LogFilter
from validation.request_log.search import log_page

MAX_ROWS = 50_000
MAX_SCANS = 100

HEADER: Row = [
    *("time (UTC)", "address", "verdict", "reason", "score", "status", "error", "cost"),
    *("duration (ms)", "key", "key name", "sandbox", "replayed", "path", "request id", "result id"),
]


def export(*, form: LogFilter, actor: User) -> Iterator[Row]:
    audit.record(form.account, actor, "requests.exported", form.description)
    return _csv_rows(form)


def _csv_rows(form: LogFilter) -> Iterator[Row]:
    yield HEADER
    read_page, before, rows_left = reads_replica(log_page), None, MAX_ROWS
    for _ in range(MAX_SCANS):
        page = read_page(form, before, page_size=min(BATCH_SIZE, rows_left))
        # A slow client must not hold a connection while it downloads these rows.
        release_connection()
        yield from map(_csv_row, page.entries)
        before, rows_left = page.older, rows_left - len(page.entries)
        if before is None:
            return
        if not rows_left:
            break
    yield ["The export stopped here. Choose an earlier “To” date to export older requests."]


def _csv_row(entry: LogEntry) -> Row:
    key = entry.key
    cells: list[str | int | None] = [
        f"{entry.at:%Y-%m-%d %H:%M:%S}",
        entry.address,
        entry.verdict,
        entry.reason,
        entry.score,
        entry.status,
        entry.refusal,
        entry.cost,
        entry.duration_ms,
        key.public_id if key else None,
        key.name if key else "Playground",
        entry.sandbox,
        entry.replayed,
        entry.path,
        entry.request_id,
        entry.result_id,
    ]
    return [to_cell(cell) for cell in cells]
