"""A request only appends a tuple to a list: formatting and metrics come later."""

import collections
import time
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple, cast

import orjson
from django.http import FileResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from runtime.logging import formatters
from runtime.logging.handler import StderrWriter
from runtime.metrics.client import (
    DURATION_BUCKETS,
    METRICS_ON,
    Counter,
    Histogram,
    SumGauge,
    before_each_flush,
)

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
in_progress = SumGauge("emailvalidation_http_requests_in_progress", "Requests in progress.")
dropped_records = Counter(
    "emailvalidation_access_records_dropped",
    "Requests missing from access log and metrics because the buffer was full.",
)

# part, route, method, status, code, is_sandbox
_metric_fields = itemgetter(1, 7, 6, 8, 10, 11)


class AccessRecord(NamedTuple):
    at: float
    part: str
    request_id: str
    account_id: str | None
    key_id: str | None
    ip: str
    method: str
    # The path itself is never recorded.
    route: str
    status: int
    seconds: float
    code: str
    is_sandbox: bool = False
    verdict: str | None = None
    message: str = "answered"


class AccessLog:
    is_enabled = False
    writes_lines = False
    updates_metrics = False
    records: list[AccessRecord] = []
    in_progress = 0


before_each_flush.append(lambda: in_progress.set(AccessLog.in_progress))


def configure(*, writes_lines: bool, updates_metrics: bool = METRICS_ON) -> None:
    AccessLog.writes_lines, AccessLog.updates_metrics = writes_lines, updates_metrics
    AccessLog.is_enabled = writes_lines or updates_metrics


def add_record(record: AccessRecord) -> None:
    if len(AccessLog.records) < MAX_BUFFERED:
        AccessLog.records.append(record)
    else:
        dropped_records.inc()


def add_record_of(response: HttpResponseBase, record: AccessRecord) -> None:
    """Add a response's record; a stream's, once it has ended."""
    if isinstance(response, StreamingHttpResponse) and not isinstance(response, FileResponse):
        pieces = cast(Iterator[bytes], response.streaming_content)
        response.streaming_content = _record_end(pieces, record)
    else:
        add_record(record)


def _record_end(pieces: Iterator[bytes], record: AccessRecord) -> Iterator[bytes]:
    try:
        yield from pieces
    except GeneratorExit:
        record = record._replace(message="client disconnected")
        raise
    except BaseException:
        record = record._replace(message="interrupted")
        raise
    finally:
        add_record(record)


def take_records() -> list[AccessRecord]:
    taken, AccessLog.records = AccessLog.records, []
    return taken


def flush(writer: StderrWriter, *, as_json: bool) -> None:
    records = take_records()
    format_line = json_line if as_json else text_line
    for start in range(0, len(records), BATCH_SIZE):
        batch = records[start : start + BATCH_SIZE]
        if AccessLog.writes_lines:
            writer.write(map(format_line, batch))
        if AccessLog.updates_metrics:
            _update_metrics(batch)
        # Let requests run.
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
    # Unpacking is faster than attribute access.
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
    """Clients can send any text as the method."""
    return method if method in METHODS else formatters.redact(method)[:20]
