"""An event for Sentry is built from harmless fields only."""

import logging
from types import SimpleNamespace
from typing import Any

from sentry_sdk.types import Event

from runtime.logging.error_tracking import MAX_EVENTS, EventLimit, build_event
from runtime.logging.formatters import current_request_id

SECRET = "whole.address@people.example has hunter2"
FRAME = {"function": "charge", "lineno": 3, "vars": {"email": SECRET}}
# What the SDK and its integrations may put into an event.
EVENT: dict[str, Any] = {
    "event_id": "0" * 32,
    "level": "error",
    "logger": "api",
    "release": "1.0.0",
    "message": SECRET,
    "logentry": {"message": "Refused %s", "formatted": SECRET, "params": [SECRET]},
    "exception": {
        "values": [
            {
                "type": "ValueError",
                "value": SECRET,
                "mechanism": {"type": "logging", "handled": True, "data": {"text": SECRET}},
                "stacktrace": {"frames": [FRAME], "registers": {"text": SECRET}},
            }
        ]
    },
    "breadcrumbs": {"values": [{"message": SECRET}]},
    "contexts": {"trace": {"data": {"url": SECRET}}},
    "extra": {"text": SECRET},
    "request": {"url": SECRET, "query_string": SECRET, "data": SECRET, "cookies": SECRET},
    "tags": {"text": SECRET},
    "transaction": f"/accounts/{SECRET}/",
    "user": {"email": SECRET, "ip_address": "192.0.2.1"},
}


def record(message: str, **attributes: object) -> logging.LogRecord:
    made = logging.LogRecord("api", logging.ERROR, "file.py", 1, message, (SECRET,), None)
    made.__dict__.update(attributes)
    return made


def build(made: logging.LogRecord) -> Event:
    return build_event(EVENT, {"log_record": made})  # type: ignore[arg-type]


def test_event_has_types_and_locations_and_no_values() -> None:
    current_request_id.set("req_1")
    assert build(record("Refused %s")) == {
        "event_id": "0" * 32,
        "level": "error",
        "logger": "api",
        "release": "1.0.0",
        "tags": {"request_id": "req_1"},
        "logentry": {"message": "Refused %s"},
        "exception": {
            "values": [
                {
                    "type": "ValueError",
                    "mechanism": {"type": "logging", "handled": True},
                    "stacktrace": {"frames": [{"function": "charge", "lineno": 3}]},
                }
            ]
        },
    }


def test_addresses_and_keys_in_a_message_are_masked() -> None:
    key = "svc_live_inventedforthistest0123456789abcdefghijkl"
    message = f"whole.address@people.example has {key}"
    assert build(record(message))["logentry"] == {"message": "w…@people.example has svc_live_…"}


def test_event_names_the_route_of_a_request_but_not_its_path() -> None:
    match = SimpleNamespace(route="accounts/<text>/")
    request = SimpleNamespace(method="POST", resolver_match=match, path=f"/accounts/{SECRET}/")
    assert build(record("Failed", request=request))["transaction"] == "POST /accounts/<text>/"
    request.method = SECRET
    assert "transaction" not in build(record("Failed", request=request))
    unknown = SimpleNamespace(method="GET", resolver_match=None, path=SECRET)
    assert "transaction" not in build(record("Failed", request=unknown))


def test_flood_of_errors_is_limited(monkeypatch: Any) -> None:
    now = 1000.0
    monkeypatch.setattr("runtime.logging.error_tracking.time.monotonic", lambda: now)
    limit, failed = EventLimit(), record("Failed")
    assert sum(limit.filter(failed) for _ in range(100)) == MAX_EVENTS
    now += 60
    assert limit.filter(failed)
