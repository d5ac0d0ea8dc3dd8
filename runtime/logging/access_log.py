"""Write one access record per request, and derive the HTTP metrics from the records.

A request only appends a tuple to a list. runtime/flusher.py turns the tuples into log lines and
metrics in batches.
"""

import collections
import time
from operator import itemgetter
from typing import NamedTuple

import orjson

from runtime.logging import formatters
from runtime.logging.handler import StderrWriter
from runtime.metrics.client import (
    DURATION_BUCKETS,
    METRICS_ON,
    Counter,
    Gauge,
    Histogram,
    before_each_flush,
)

# More than a worker handles in many seconds.
MAX_BUFFERED = 20_000
BATCH_SIZE = 200
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

requests = Counter(
    "emailvalidation_http_requests",
    "Requests, by part: api, page, static, or server (refused before Django).",
    ("part", "route", "method", "status", "code"),
)
durations = Histogram(
    "emailvalidation_http_request_duration_seconds",
    "Request duration, by part.",
    ("part",),
    buckets=DURATION_BUCKETS,
)
in_progress = Gauge(
    "emailvalidation_http_requests_in_hand", "Requests in progress.", multiprocess_mode="livesum"
)
dropped_records = Counter(
    "emailvalidation_answers_dropped",
    "Requests missing from access log and metrics because the buffer was full.",
)

# part, route, method, status, code, is_sandbox
_metric_fields = itemgetter(1, 7, 6, 8, 10, 11)


class AccessRecord(NamedTuple):
    at: float
    # api, page, or static; server: refused by the web server before Django saw it.
    part: str
    request_id: str
    account_id: str | None
    # The public id.
    key_id: str | None
    ip: str
    method: str
    # The pattern from urls.py, or "" if none matched. The path itself is never recorded.
    route: str
    status: int
    seconds: float
    code: str
    # Whether the sandbox simulated this error.
    is_sandbox: bool = False
    verdict: str | None = None
    message: str = "answered"


class AccessLog:
    """The state of this process's access log."""

    # Whether records are collected: they are needed for log lines or for metrics.
    is_enabled = False
    writes_lines = False
    updates_metrics = False
    records: list[AccessRecord] = []
    in_progress = 0


before_each_flush.append(lambda: in_progress.set(AccessLog.in_progress))


def configure(*, writes_lines: bool, updates_metrics: bool = METRICS_ON) -> None:
    """Enable the access log in a process that flushes it (runtime/flusher.py)."""
    AccessLog.writes_lines, AccessLog.updates_metrics = writes_lines, updates_metrics
    AccessLog.is_enabled = writes_lines or updates_metrics


def add_record(record: AccessRecord) -> None:
    """Buffer a record. Callers check `AccessLog.is_enabled` first."""
    if len(AccessLog.records) < MAX_BUFFERED:
        AccessLog.records.append(record)
    else:
        dropped_records.inc()


def take_records() -> list[AccessRecord]:
    taken, AccessLog.records = AccessLog.records, []
    return taken


def flush(writer: StderrWriter, *, as_json: bool) -> None:
    """Write log lines and update metrics, in batches between which requests can run."""
    records = take_records()
    format_line = json_line if as_json else text_line
    for start in range(0, len(records), BATCH_SIZE):
        batch = records[start : start + BATCH_SIZE]
        if AccessLog.writes_lines:
            writer.write(map(format_line, batch))
        if AccessLog.updates_metrics:
            _update_metrics(batch)
        time.sleep(0)


def _update_metrics(batch: list[AccessRecord]) -> None:
    for fields, count in collections.Counter(map(_metric_fields, batch)).items():
        part, route, method, status, code, is_sandbox = fields
        code = "sandbox" if is_sandbox else code
        method = method if method in METHODS else "other"
        requests.labels(part, route, method, status, code).inc(count)
    observe = {part: durations.labels(part).observe for part in {record.part for record in batch}}
    for record in batch:
        observe[record.part](record.seconds)


def json_line(record: AccessRecord) -> bytes:
    # Unpacking is faster than attribute access, and this runs for every request.
    at, part, request, account, key, ip, method, route, status, seconds, code, *others = record
    is_sandbox, verdict, message = others
    fields: dict[str, object] = {
        "time": formatters.iso_timestamp(at),
        "level": "info",
        "logger": part,
        "message": message,
        "request_id": request,
        "account_id": account,
        "key_id": key,
        "ip": ip,
        "method": (method if method in METHODS else _safe_method(method)) or None,
        "route": route or None,
        "status": status,
        "duration_ms": int(seconds * 10_000) / 10,
        "code": code or None,
        "verdict": verdict,
    }
    if is_sandbox:
        fields["sandbox"] = True
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def text_line(record: AccessRecord) -> bytes:
    """Format a record like the lines of formatters.LineFormatter."""
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.at))
    no_id = formatters.NO_ID
    words = (
        f"{at},{int(record.at % 1 * 1000):03d} INFO {record.part}",
        f"[{record.request_id} {record.account_id or no_id}]",
        f"{_safe_method(record.method) or no_id} {record.route or no_id} {record.status}",
        f"{record.code or no_id} {record.key_id or no_id} {record.ip}",
        f"{record.seconds * 1000:.1f} ms",
        record.verdict or record.message,
    )
    return f"{' '.join(words)}\n".encode()


def _safe_method(method: str) -> str:
    """Shorten and redact a non-standard method: clients can send any text."""
    return method if method in METHODS else formatters.redact(method)[:20]
