"""Report errors to Sentry.

An event has an exception's type and code locations, never its text, and a message's format, never
its arguments.
"""

import logging
import time
from collections.abc import Mapping
from typing import Any

import sentry_sdk
from sentry_sdk.integrations.atexit import AtexitIntegration
from sentry_sdk.integrations.logging import EventHandler
from sentry_sdk.types import Event, Hint

from runtime.logging.access_log import METHODS
from runtime.logging.formatters import current_request_id, redact
from runtime.logging.routes import get_route

# Per process: in an outage, every request logs an error.
MAX_EVENTS, PERIOD_SECONDS = 10, 60.0
SHUTDOWN_SECONDS = 2
EVENT_FIELDS = (
    *("event_id", "timestamp", "platform", "level", "logger"),
    *("release", "environment", "server_name", "sdk"),
)
EXCEPTION_FIELDS = ("type", "module", "mechanism")
MECHANISM_FIELDS = ("type", "handled", "exception_id", "parent_id", "is_exception_group")
FRAME_FIELDS = (
    *("filename", "abs_path", "module", "function", "lineno", "in_app"),
    *("pre_context", "context_line", "post_context"),
)


def create_handler(dsn: str, release: str, environment: str) -> EventHandler:
    sentry_sdk.init(
        dsn,
        release=release,
        environment=environment,
        before_send=build_event,
        default_integrations=False,
        auto_enabling_integrations=False,
        # The default callback prints a message.
        integrations=[AtexitIntegration(callback=lambda *_: None)],
        shutdown_timeout=SHUTDOWN_SECONDS,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        traces_sample_rate=None,
        auto_session_tracking=False,
        send_client_reports=False,
        spotlight=False,
    )
    handler = EventHandler(level=logging.ERROR)
    handler.addFilter(EventLimit())
    return handler


class EventLimit(logging.Filter):
    """Limit events, because building one takes milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self._period, self._events = 0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        period = int(time.monotonic() / PERIOD_SECONDS)
        if period != self._period:
            self._period, self._events = period, 0
        self._events += 1
        return self._events <= MAX_EVENTS


def build_event(event: Event, hint: Hint) -> Event:
    record: logging.LogRecord | None = hint.get("log_record")
    built: dict[str, Any] = _pick(event, EVENT_FIELDS)
    built["tags"] = {"request_id": current_request_id.get()}
    if record is not None:
        built["logentry"] = {"message": redact(str(record.msg))}
        request = getattr(record, "request", None)
        route = get_route(getattr(request, "resolver_match", None))
        if route and request is not None and request.method in METHODS:
            built["transaction"] = f"{request.method} {route}"
    if exceptions := event.get("exception"):
        built["exception"] = {"values": [_describe(each) for each in exceptions["values"]]}
    return built  # type: ignore[return-value]


def _describe(exception: Mapping[str, Any]) -> dict[str, Any]:
    described = _pick(exception, EXCEPTION_FIELDS)
    if mechanism := exception.get("mechanism"):
        described["mechanism"] = _pick(mechanism, MECHANISM_FIELDS)
    if trace := exception.get("stacktrace"):
        frames = [_pick(frame, FRAME_FIELDS) for frame in trace["frames"]]
        described["stacktrace"] = {"frames": frames}
    return described


def _pick(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}
