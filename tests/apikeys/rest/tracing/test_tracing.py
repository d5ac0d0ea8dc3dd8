"""Sentry and OpenTelemetry, installed as their documentation says, see the API's requests."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.servers.product import ROOT

pytestmark = pytest.mark.process

# Method, route and status of each call in calls.py.
CALLS = [
    ("POST", "/v1/validate", 200),
    ("POST", "/v1/validate", 401),
    ("GET", "/v1/", 404),
    ("GET", "/v1/crash", 500),
]


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What both have seen of the calls."""
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.apikeys.rest.tracing.calls"],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "tests.apikeys.rest.tracing.settings",
        },
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=100,
    )
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def test_django_sends_its_signals_for_api_requests(seen: dict[str, Any]) -> None:
    paths = ("/v1/validate", "/v1/validate", "/v1/nothing", "/v1/crash")
    assert seen["signals"] == [event for path in paths for event in (f"started {path}", "finished")]


def test_sentry_sees_route_and_status_of_each_request(seen: dict[str, Any]) -> None:
    transactions = [event for event in seen["sentry"] if event.get("type") == "transaction"]
    assert [
        (
            event["request"]["method"],
            event["transaction"],
            event["contexts"]["trace"]["data"]["http.response.status_code"],
        )
        for event in transactions
    ] == CALLS
    assert {event["transaction_info"]["source"] for event in transactions} == {"route"}


def test_sentry_gets_one_event_for_a_crash(seen: dict[str, Any]) -> None:
    (crash,) = (event for event in seen["sentry"] if event.get("type") != "transaction")
    (error,) = crash["exception"]["values"]
    assert error["type"] == "ZeroDivisionError"
    assert error["mechanism"] == {"type": "django", "handled": False}
    assert crash["transaction"] == "/v1/crash"


def test_opentelemetry_sees_route_and_status_of_each_request(seen: dict[str, Any]) -> None:
    assert seen["spans"] == [
        [f"{method} {route}", route, status] for method, route, status in CALLS
    ]
