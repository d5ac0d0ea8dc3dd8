"""Each request that is answered is one record, and is counted."""

import json
import time
from collections.abc import Iterator
from typing import NoReturn

import pytest
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.test import Client, override_settings
from django.urls import path

from accounts.models import Account, User
from apikeys.models import ApiKey
from config.urls import urlpatterns
from runtime.logging import access_log
from runtime.logging.access_log import (
    AT_ONCE,
    MOST_KEPT,
    AccessLog,
    AccessRecord,
    add_record,
    flush,
    json_line,
    text_line,
)
from runtime.logging.handler import StderrWriter
from runtime.metrics.registry import MetricsSwitch
from tests.conftest import signed_in
from tests.support.api_client import ApiClient
from tests.support.log_records import Records

ONE = AccessRecord(
    time.time(), "page", "req_1", None, None, "192.0.2.1", "GET", "/x/", 200, 0.0123, "", False
)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(MetricsSwitch, "is_on", True)
    access_log.configure(is_logged=False)
    # What other tests left.
    access_log.take_records()
    access_log.unwritten.take()
    yield
    access_log.take_records()
    access_log.answers.take(), access_log.seconds.take()
    monkeypatch.undo()
    access_log.configure(is_logged=False)


@pytest.mark.django_db
def test_a_validation_tells_who_asked_and_what_came_out(
    caller: ApiClient, account: Account, key: ApiKey, records: Records
) -> None:
    answer = caller.validate("deliverable@sandbox.test")
    (record,) = records.of_requests()
    assert record.pop("time").endswith("Z")
    assert 0 < record.pop("duration_ms") < 60_000
    assert record == {
        "level": "info",
        "logger": "api",
        "message": "answered",
        "request_id": answer.headers["X-Request-Id"],
        "account_id": account.public_id,
        "key_id": key.public_id,
        "ip": "198.51.100.7",
        "method": "POST",
        "route": "/v1/validate",
        "status": 200,
        "code": None,
        "verdict": "deliverable",
    }


@pytest.mark.django_db
def test_an_answer_that_is_repeated_tells_its_verdict_again(
    caller: ApiClient, records: Records
) -> None:
    for _ in range(2):
        caller.validate("risky@sandbox.test", Idempotency_Key="one")
    assert [record["verdict"] for record in records.of_requests()] == ["risky"] * 2


@pytest.mark.django_db
def test_a_refusal_that_was_asked_for_is_marked(caller: ApiClient, records: Records) -> None:
    caller.validate("internal_error@sandbox.test")
    (record,) = records.of_requests()
    assert (record["status"], record["code"], record["sandbox"]) == (500, "internal_error", True)


@pytest.mark.django_db
def test_a_page_tells_its_account_and_its_route_alone(
    owner: User, account: Account, records: Records
) -> None:
    client = signed_in(owner)
    client.get("/accounts/team/?email=jane@shop.example")
    *_, record = records.of_requests()
    assert (record["logger"], record["account_id"]) == ("page", account.public_id)
    assert (record["route"], record["status"]) == ("/accounts/team/", 200)
    assert "jane" not in records.text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "status", "route"),
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
def test_a_path_stands_in_no_record(
    asked: str, status: int, route: str | None, records: Records
) -> None:
    Client().get(asked)
    (record,) = records.of_requests()
    assert (record["status"], record["route"]) == (status, route)
    assert len(records.lines) == 2
    assert "jane" not in records.text
    assert "abc-secret" not in records.text


@pytest.mark.django_db
def test_a_form_without_its_token_is_one_record_with_the_reason(records: Records) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post("/accounts/login/").status_code == 403
    (record,) = records.of_requests()
    assert record["code"] == "csrf_failed"
    assert len(records.lines) == 2


def refuses(request: HttpRequest, what: str) -> NoReturn:
    raise PermissionDenied("jane@shop.example may not.")


class RefusingUrls:
    urlpatterns = [path("refuses/<str:what>/", login_not_required(refuses)), *urlpatterns]
    from config.urls import handler400, handler403, handler404, handler500


@pytest.mark.django_db
def test_a_page_that_is_not_open_is_one_record(records: Records) -> None:
    with override_settings(ROOT_URLCONF=RefusingUrls):
        Client().get("/refuses/jane@shop.example/")
    (record,) = records.of_requests()
    assert (record["status"], record["route"]) == (403, "/refuses/<str:what>/")
    assert len(records.lines) == 2


@pytest.mark.django_db
@pytest.mark.parametrize("host", ["evil.example", "a b", "jane@shop.example"])
@pytest.mark.parametrize("asked", ["/accounts/login/", "/v1/me"])
def test_a_host_that_is_not_ours_is_one_record(host: str, asked: str, records: Records) -> None:
    Client(raise_request_exception=False).get(asked, headers={"host": host})
    (record,) = records.of_requests()
    assert record["status"] == 400
    assert len(records.lines) == 2
    assert host not in records.text


@pytest.mark.django_db
def test_what_a_caller_chooses_is_no_label(caller: ApiClient, measured: None) -> None:
    paths = ["/v1/validate", "/v1/nothing/1", "/nothing/2", "/docs/3/", "/static/4", "/v1/me"]
    for asked in paths:
        for method in ("GET", "BREW", "SVC", "GET"):
            caller.call(method, asked)
    tell_all()
    labels = set(access_log.answers.take())
    assert {method for _, _, method, _, _ in labels} == {"GET", "other"}
    routes = {route for _, route, *_ in labels}
    assert routes == {"/v1/validate", "/v1", "/v1/me", ""}


@pytest.mark.django_db
def test_a_refusal_that_was_asked_for_counts_as_such(caller: ApiClient, measured: None) -> None:
    caller.validate("internal_error@sandbox.test")
    tell_all()
    assert access_log.answers.take() == {("api", "/v1/validate", "POST", "500", "sandbox"): 1}


def test_all_are_counted_and_timed_by_part(measured: None) -> None:
    for _ in range(AT_ONCE + 3):
        add_record(ONE)
    add_record(ONE._replace(part="api", seconds=20.0))
    tell_all()
    assert access_log.answers.take() == {
        ("page", "/x/", "GET", "200", ""): AT_ONCE + 3,
        ("api", "/x/", "GET", "200", ""): 1,
    }
    times = access_log.seconds.take()
    assert sum(times["page",].counts) == AT_ONCE + 3
    assert times["page",].counts[access_log.seconds.bounds.index(0.025)] == AT_ONCE + 3
    assert times["api",].counts[-1] == 1
    assert times["api",].sum == 20.0


def test_only_so_many_wait_to_be_told_about(measured: None) -> None:
    for _ in range(MOST_KEPT + 5):
        add_record(ONE)
    assert len(access_log.take_records()) == MOST_KEPT
    assert access_log.unwritten.take() == {(): 5}


def test_where_nobody_wants_to_know_nothing_is_kept(records: Records) -> None:
    access_log.configure(is_logged=False)
    assert not AccessLog.is_open
    Client().get("/static/nothing")
    assert access_log.take_records() == []


@pytest.mark.parametrize("method", ["BREW\n", "\x1b[31m", "svc_live_" + "a1B2" * 9, "é", '"'])
def test_whatever_the_method_is_it_is_one_line(method: str) -> None:
    one = ONE._replace(method=method)
    assert json.loads(json_line(one))["status"] == 200
    for line in (json_line(one), text_line(one)):
        assert line.decode().count("\n") == 1
        assert b"a1B2" not in line
        assert b"\x1b" not in line


def tell_all() -> None:
    with open("/dev/null", "wb") as nowhere:  # noqa: PTH123
        flush(StderrWriter(nowhere.fileno()), as_json=True)
