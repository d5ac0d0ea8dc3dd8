"""Every request has one access record, and is counted in the metrics."""

import json
import time
from collections.abc import Iterator
from typing import NoReturn

import pytest
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.test import Client, override_settings
from django.urls import path as url_path

from accounts.models import Account, User
from apikeys.models import ApiKey
from config.urls import urlpatterns
from runtime.logging import access_log
from runtime.logging.access_log import (
    BATCH_SIZE,
    MAX_BUFFERED,
    AccessLog,
    AccessRecord,
    add_record,
    flush,
    json_line,
    text_line,
)
from runtime.logging.handler import StderrWriter
from tests.conftest import signed_in_by_form
from tests.support.api_client import ApiClient
from tests.support.log_records import LogCapture
from tests.support.metrics import Increases

pytestmark = pytest.mark.anywhere

RECORD = AccessRecord(
    time.time(), "page", "req_1", None, None, "192.0.2.1", "GET", "/x/", 200, 0.0123, "", False
)


@pytest.fixture
def increases() -> Iterator[Increases]:
    access_log.configure(writes_lines=False, updates_metrics=True)
    # Discard what earlier tests left.
    access_log.take_records()
    yield Increases()
    access_log.take_records()
    access_log.configure(writes_lines=False)


def test_record_of_a_validation_has_the_caller_and_the_verdict(
    caller: ApiClient, account: Account, key: ApiKey, records: LogCapture
) -> None:
    response = caller.validate("deliverable@sandbox.test")
    (record,) = records.access_records()
    assert record.pop("time").endswith("Z")
    assert 0 < record.pop("duration_ms") < 60_000
    assert record == {
        "level": "info",
        "logger": "api",
        "message": "answered",
        "request_id": response.headers["X-Request-Id"],
        "account_id": account.public_id,
        "key_id": key.public_id,
        "ip": "198.51.100.7",
        "method": "POST",
        "route": "/v1/validate",
        "status": 200,
        "code": None,
        "verdict": "deliverable",
    }


def test_record_of_a_replayed_response_and_of_a_sandbox_error(
    caller: ApiClient, records: LogCapture
) -> None:
    for _ in range(2):
        caller.validate("risky@sandbox.test", Idempotency_Key="one")
    caller.validate("internal_error@sandbox.test")
    *results, error = records.access_records()
    assert [record["verdict"] for record in results] == ["risky"] * 2
    assert (error["status"], error["code"], error["sandbox"]) == (500, "internal_error", True)


def test_record_of_a_page_has_the_account_and_route_but_no_query_string(
    owner: User, account: Account, records: LogCapture
) -> None:
    client = signed_in_by_form(owner)
    client.get("/accounts/team/?email=jane@shop.example")
    *_, record = records.access_records()
    assert (record["logger"], record["account_id"]) == ("page", account.public_id)
    assert (record["route"], record["status"]) == ("/accounts/team/", 200)
    assert "jane" not in records.text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "status", "route"),
    [
        ("/nothing/jane@shop.example/", 404, None),
        (
            "/accounts/password/reset/key/abc-secret/",
            200,
            "/accounts/password/reset/key/<uidb36>-<key>/",
        ),
        ("/v1/jane@shop.example", 401, "/v1"),
        ("/admin/jane@shop.example", 302, "/admin/<url>"),
    ],
)
def test_records_contain_the_route_and_not_the_path(
    path: str, status: int, route: str | None, records: LogCapture
) -> None:
    Client().get(path)
    (record,) = records.access_records()
    assert (record["status"], record["route"]) == (status, route)
    assert len(records.lines) == 2
    assert "jane" not in records.text
    assert "abc-secret" not in records.text


def refuses(request: HttpRequest, what: str) -> NoReturn:
    raise PermissionDenied("jane@shop.example may not.")


class RefusingUrls:
    urlpatterns = [url_path("refuses/<str:what>/", login_not_required(refuses)), *urlpatterns]
    from config.urls import handler400, handler403, handler404, handler500


@pytest.mark.django_db
def test_forbidden_pages_are_one_record_each(records: LogCapture) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post("/accounts/login/").status_code == 403
    with override_settings(ROOT_URLCONF=RefusingUrls):
        client.get("/refuses/jane@shop.example/")
    csrf, refused = records.access_records()
    assert csrf["code"] == "csrf_failed"
    assert (refused["status"], refused["route"]) == (403, "/refuses/<str:what>/")
    assert len(records.lines) == 4


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["evil.example", "a b", "jane@shop.example"])
@pytest.mark.parametrize("path", ["/accounts/login/", "/v1/me"])
def test_unknown_host_is_one_record_without_it(host: str, path: str, records: LogCapture) -> None:
    Client(raise_request_exception=False).get(path, headers={"host": host})
    (record,) = records.access_records()
    assert record["status"] == 400
    assert len(records.lines) == 2
    assert host not in records.text


def test_text_chosen_by_callers_is_not_a_label(caller: ApiClient, increases: Increases) -> None:
    paths = ["/v1/validate", "/v1/nothing/1", "/nothing/2", "/docs/3/", "/static/4", "/v1/me"]
    for path in paths:
        for method in ("GET", "BREW", "SVC", "GET"):
            caller.call(method, path)
    flush_all()
    labels = set(increases.of("http_requests_total"))
    assert {method for _, _, method, _, _ in labels} == {"GET", "other"}
    routes = {route for _, route, *_ in labels}
    assert routes == {"/v1/validate", "/v1", "/v1/me", ""}


def test_requests_are_counted_and_timed_by_part(increases: Increases) -> None:
    for _ in range(BATCH_SIZE + 3):
        add_record(RECORD)
    add_record(RECORD._replace(part="api", seconds=20.0))
    flush_all()
    assert increases.of("http_requests_total") == {
        ("page", "/x/", "GET", "200", ""): BATCH_SIZE + 3,
        ("api", "/x/", "GET", "200", ""): 1,
    }
    buckets = increases.of("http_request_duration_seconds_bucket")
    assert ("page", "0.01") not in buckets
    assert buckets["page", "0.025"] == buckets["page", "+Inf"] == BATCH_SIZE + 3
    assert {bound for part, bound in buckets if part == "api"} == {"+Inf"}
    assert buckets["api", "+Inf"] == 1
    assert increases.of("http_request_duration_seconds_sum")["api",] == pytest.approx(20.0)


def test_full_buffer_drops_and_counts_further_records(increases: Increases) -> None:
    for _ in range(MAX_BUFFERED + 5):
        add_record(RECORD)
    assert len(access_log.take_records()) == MAX_BUFFERED
    assert increases.of("access_records_dropped_total") == {(): 5}


def test_disabled_access_log_collects_no_records(records: LogCapture) -> None:
    # Discard what earlier tests left.
    access_log.take_records()
    access_log.configure(writes_lines=False)
    assert not AccessLog.is_enabled
    Client().get("/static/nothing")
    assert access_log.take_records() == []


@pytest.mark.parametrize("method", ["BREW\n", "\x1b[31m", "svc_live_" + "a1B2" * 9, "é", '"'])
def test_record_is_one_line_whatever_the_method(method: str) -> None:
    record = RECORD._replace(method=method)
    assert json.loads(json_line(record))["status"] == 200
    for line in (json_line(record), text_line(record)):
        assert line.decode().count("\n") == 1
        assert b"a1B2" not in line
        assert b"\x1b" not in line


def flush_all() -> None:
    with open("/dev/null", "wb") as null:  # noqa: PTH123
        flush(StderrWriter(null.fileno()), as_json=True)
