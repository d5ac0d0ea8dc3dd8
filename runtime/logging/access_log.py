"""One record for each request that was answered, and the metrics of all requests.

A request hands over what is known about it, and is done: that costs no more than a tuple in a list.
runtime/flusher.py makes of them lines of the log and metrics, many at a time.
"""

import collections
import re
import time
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from runtime.logging import formatters
from runtime.logging.handler import StderrWriter
from runtime.metrics.registry import Counter, Gauge, Histogram, MetricsSwitch

# More than a worker answers in many seconds.
MOST_KEPT = 20_000
AT_ONCE = 200
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_PART = re.compile(r"\(\?P(<\w+>)[^)]*\)")
_SYNTAX = re.compile(r"\(\?:.*|/\?\$|\\Z|[\^$\\]")

answers = Counter(
    "http_requests",
    "Requests that were answered: api, page, static, or server (which could not read them).",
    ("part", "route", "method", "status", "code"),
)
seconds = Histogram(
    "http_request_duration_seconds", "How long answers took, by part of the site.", ("part",)
)
unwritten = Counter(
    "answers_dropped", "Requests that were answered while too many waited to be told about."
)


_counted = itemgetter(1, 7, 6, 8, 10, 11)


class AccessRecord(NamedTuple):
    at: float
    # api, page, static; or server: refused by it, before anybody else read it.
    part: str
    request_id: str
    account_id: str | None
    # The public one.
    key_id: str | None
    ip: str
    method: str
    # Of urls.py; "" where there is none, and the path stands nowhere.
    route: str
    status: int
    seconds: float
    code: str
    # A refusal that was asked for in the sandbox.
    is_sandbox: bool = False
    verdict: str | None = None
    message: str = "answered"


class AccessLog:
    """Of this process."""

    # Whether anybody wants to know: else there is nothing to note.
    is_open = False
    # Whether each is a record of the log as well.
    is_logged = False
    answers: list[AccessRecord] = []
    in_hand = 0


Gauge(
    "http_requests_in_hand",
    "Requests that are being answered.",
    read=lambda: AccessLog.in_hand,
)


def configure(*, is_logged: bool) -> None:
    """In a process that tells what it collects: runtime/flusher.py."""
    AccessLog.is_logged = is_logged
    AccessLog.is_open = is_logged or MetricsSwitch.is_on


def add_record(answer: AccessRecord) -> None:
    """Where the desk is open."""
    if len(AccessLog.answers) < MOST_KEPT:
        AccessLog.answers.append(answer)
    else:
        unwritten.add()


def take_records() -> list[AccessRecord]:
    taken, AccessLog.answers = AccessLog.answers, []
    return taken


def flush(outlet: StderrWriter, *, as_json: bool) -> None:
    """Others of the worker come in between."""
    taken = take_records()
    line = json_line if as_json else text_line
    for start in range(0, len(taken), AT_ONCE):
        part = taken[start : start + AT_ONCE]
        if AccessLog.is_logged:
            outlet.write(map(line, part))
        if MetricsSwitch.is_on:
            _measure(part)
        time.sleep(0)


def _measure(part: list[AccessRecord]) -> None:
    for answer, number in collections.Counter(map(_counted, part)).items():
        site_part, route, method, status, code, is_rehearsed = answer
        code = "sandbox" if is_rehearsed else code
        method = method if method in METHODS else "other"
        answers.add(site_part, route, method, str(status), code, amount=number)
    for site_part in {one.part for one in part}:
        seconds.add_all([one.seconds for one in part if one.part == site_part], site_part)


def json_line(one: AccessRecord) -> bytes:
    # Taken apart at once: this is what each request costs.
    at, part, request, account, key, ip, method, route, status, took, code, *others = one
    is_rehearsed, verdict, message = others
    told: dict[str, Any] = {
        "time": formatters.iso_timestamp(at),
        "level": "info",
        "logger": part,
        "message": message,
        "request_id": request,
        "account_id": account,
        "key_id": key,
        "ip": ip,
        "method": (method if method in METHODS else _method(method)) or None,
        "route": route or None,
        "status": status,
        "duration_ms": int(took * 10_000) / 10,
        "code": code or None,
        "verdict": verdict,
    }
    if is_rehearsed:
        told["sandbox"] = True
    return orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE)


def text_line(one: AccessRecord) -> bytes:
    """As runtime/logging/formatters.py writes the others."""
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one.at))
    words = (
        f"{at},{int(one.at % 1 * 1000):03d} INFO {one.part}",
        f"[{one.request_id} {one.account_id or formatters.NO_ID}]",
        f"{_method(one.method) or formatters.NO_ID} {one.route or formatters.NO_ID} {one.status}",
        f"{one.code or formatters.NO_ID} {one.key_id or formatters.NO_ID} {one.ip}",
        f"{one.seconds * 1000:.1f} ms",
        one.verdict or one.message,
    )
    return f"{' '.join(words)}\n".encode()


def route_of(match: Any) -> str:
    """What urls.py says, in words that people can read: no more of them than it has lines."""
    return _readable(match.route) if match is not None else ""


@lru_cache(maxsize=4096)
def _readable(route: str) -> str:
    named = _PART.sub(r"\1", route)
    return f"/{_SYNTAX.sub('', named)}"


def _method(given: str) -> str:
    """A client may call it as it likes."""
    return given if given in METHODS else formatters.redact(given)[:20]
