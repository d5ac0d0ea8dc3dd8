"""One grammar: every route, every method, whatever goes wrong: one shape, all the headers."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.db import InternalError, OperationalError
from django.http import Http404, HttpRequest
from django.test import override_settings
from django.urls import URLPattern, get_resolver, re_path
from pytest_django import Settings

from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey
from apikeys.rest.view import ApiView
from config.urls import urlpatterns
from tests.support.api_client import JSON, ApiClient, code_of
from tests.support.log_records import Records

pytestmark = pytest.mark.django_db

METHODS = (
    *("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"),
    *("PROPFIND", "MKCOL", "LOCK", "PURGE", "LINK", "REPORT", "QUERY", "BREW"),
)
SECRET = "svc_live_1nAVariableWhenTheViewCrashes"


def api_paths() -> Iterator[str]:
    """An address of each route under /v1, read from the URL table, with and without a slash."""
    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, URLPattern) and str(pattern.pattern).startswith("^v1"):
            path = "/" + re.sub(r"\^|\(.*|/\?\$", "", str(pattern.pattern))
            yield from (path, f"{path}/")
    yield from (
        "/v1/nothing",
        "/v1/validate/more",
        "/v1/validate%0A",
        "/v1/me/%0A",
        "/v1/%0A",
        "/v1//me",
        "/v1/me//",
        "/v1/é",
    )


PATHS = sorted(set(api_paths()))
READ = {"GET", "HEAD"}
OPERATIONS = {"/v1/validate": {"POST"}, "/v1/me": READ, "/v1/credits": READ, "/v1/usage": READ}


def assert_headers(answer: Any) -> None:
    headers = answer.headers
    limit, remaining = int(headers["X-RateLimit-Limit"]), int(headers["X-RateLimit-Remaining"])
    assert 0 <= remaining <= limit
    assert int(headers["X-RateLimit-Reset"]) > 1_700_000_000
    assert re.fullmatch(rf'"\w+";q={limit};w=60', headers["RateLimit-Policy"])
    assert re.fullmatch(rf'"\w+";r={remaining};t=\d+', headers["RateLimit"])
    assert re.fullmatch(r"[A-Za-z0-9_-]{8,64}", headers["X-Request-Id"])
    assert ("Retry-After" in headers) is (answer.status_code == 429)
    assert ("WWW-Authenticate" in headers) is (answer.status_code == 401)
    assert headers["Content-Type"] == JSON
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert not [name for name in headers if name.startswith(("Access-Control", "Set-Cookie"))]


def assert_the_one_shape(answer: Any, code: str) -> None:
    assert_headers(answer)
    assert answer.status_code == REFUSALS[code].status
    if answer.request["REQUEST_METHOD"] == "HEAD":
        return
    (error,) = answer.json().values()
    assert list(error) == ["type", "code", "message", "param", "details", "doc_url", "request_id"]
    assert error["code"] == code
    assert error["type"] == REFUSALS[code].type
    assert error["doc_url"].endswith(f"/docs/errors/#{code}")
    assert error["request_id"] == answer.headers["X-Request-Id"]


@pytest.mark.parametrize("path", PATHS)
def test_without_a_key_every_path_and_method_is_401_and_counted(path: str) -> None:
    caller = ApiClient()
    for used, method in enumerate(METHODS, 1):
        answer = caller.call(method, path)
        assert_the_one_shape(answer, "missing_api_key")
        assert answer.headers["X-RateLimit-Remaining"] == str(60 - used)


@pytest.mark.parametrize("path", PATHS)
def test_with_a_key_every_path_and_method_has_its_answer(caller: ApiClient, path: str) -> None:
    allowed = OPERATIONS.get(path.removesuffix("/"))
    for used, method in enumerate(METHODS, 1):
        answer = caller.call(method, path)
        if allowed is None:
            assert_the_one_shape(answer, "not_found")
        elif method not in allowed:
            assert_the_one_shape(answer, "method_not_allowed")
            assert set(answer.headers["Allow"].split(", ")) == allowed
        elif method == "POST":
            assert_the_one_shape(answer, "invalid_json")
        else:
            assert_headers(answer)
            assert answer.status_code == 200
        assert answer.headers["X-RateLimit-Remaining"] == str(60 - used)


def test_the_clients_own_request_id_is_in_header_and_body(caller: ApiClient) -> None:
    answer = caller.get("/v1/nothing", X_Request_Id="client-id_123")
    assert answer.headers["X-Request-Id"] == answer.json()["error"]["request_id"] == "client-id_123"


def test_a_key_is_no_request_id(caller: ApiClient, secret: str) -> None:
    for given in (secret, secret[9:], f"id-{secret[9:]}"):
        answer = caller.get("/v1/me", X_Request_Id=given)
        assert answer.headers["X-Request-Id"].startswith("req_")
    for given in ("a" * 64, "5f" * 16, "A1" * 19):
        assert caller.get("/v1/me", X_Request_Id=given).headers["X-Request-Id"] == given


PLACES = [
    *("/v1/{}", "/{}", "/v1/me?key={}", "/v1/{}/{}", "/docs/{}/"),
    *("/v1/%2573vc_live_{s}", "/v1/svc-live-{s}", "/v1/svc_live_/{s}", "/v1/svc_live_%20{s}"),
    *("/v1/svc_live_%0A{s}", "/v1/{s}", "/{s}/", "/v1/SVC_LIVE_{s}", "/v1/svc_live_'{s}"),
]


@pytest.mark.parametrize("place", PLACES)
def test_a_key_in_the_wrong_place_gets_into_no_log_line(
    secret: str, records: Records, place: str
) -> None:
    ApiClient().get(place.format(secret, secret, s=secret[9:]))
    ApiClient().get("/v1/me", X_Request_Id=secret[9:])
    assert len(records.of_requests()) == 2
    assert secret[9:20] not in records.text


class CrashingView(ApiView):
    def get(self, request: Any) -> NoReturn:
        local = f"{SECRET} in a local variable"
        raise RuntimeError(f"crashed beside {local}")


def crash_before_the_key(request: HttpRequest) -> NoReturn:
    raise ValueError(SECRET)


class LookingUpView(ApiView):
    def get(self, request: Any) -> NoReturn:
        raise Http404("not in this account")


class StandbyView(ApiView):
    def get(self, request: Any) -> NoReturn:
        raise InternalError("cannot execute UPDATE in a read-only transaction")


class WithoutDatabase(ApiView):
    def get(self, request: Any) -> NoReturn:
        raise OperationalError(f"server closed the connection beside {SECRET}")


crashing = [
    re_path(r"^v1/crash$", CrashingView.as_view()),
    re_path(r"^v1/crash-early$", crash_before_the_key),
    re_path(r"^v1/no-database$", WithoutDatabase.as_view()),
    re_path(r"^v1/standby$", StandbyView.as_view()),
    re_path(r"^v1/looking-up$", LookingUpView.as_view()),
    *urlpatterns,
]


class CrashingUrls:
    urlpatterns = crashing
    from config.urls import handler400, handler403, handler404, handler500


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v1/crash", "internal_error"),
        ("/v1/crash-early", "internal_error"),
        ("/v1/no-database", "service_unavailable"),
        ("/v1/standby", "service_unavailable"),
    ],
)
def test_a_crash_has_the_one_shape_and_tells_nothing(
    caller: ApiClient, records: Records, path: str, code: str, debug: bool
) -> None:
    with override_settings(ROOT_URLCONF=CrashingUrls, DEBUG=debug):
        answer = caller.get(path)
    assert_the_one_shape(answer, code)
    bucket = '"address";r=60' if path == "/v1/crash-early" else '"account";r=59'
    assert answer.headers["RateLimit"].startswith(bucket)
    assert SECRET not in answer.content.decode() + records.text
    assert "Traceback" not in answer.content.decode() + records.text
    assert f"{Path(__file__).name}:" in records.text


def test_what_a_view_does_not_find_is_404_in_the_one_shape(caller: ApiClient) -> None:
    with override_settings(ROOT_URLCONF=CrashingUrls):
        assert_the_one_shape(caller.get("/v1/looking-up"), "not_found")


def test_503_says_in_its_details_how_long_to_wait(caller: ApiClient) -> None:
    with override_settings(ROOT_URLCONF=CrashingUrls):
        answer = caller.get("/v1/no-database")
    assert answer.json()["error"]["details"]["retry_after"] >= 1


def test_a_bad_host_has_the_one_shape_and_shows_the_address_unspent(caller: ApiClient) -> None:
    for _ in range(2):
        answer = caller.get("/v1/me", Host="evil.example")
        assert_the_one_shape(answer, "bad_request")
        assert answer.headers["RateLimit"].startswith('"address";r=60')


def test_one_request_is_one_record(caller: ApiClient, key: ApiKey, records: Records) -> None:
    caller.get("/v1/nothing%0A%1b[31m%E2%80%AE", X_Request_Id="client-id_123")
    for_program, for_people = records.lines
    record = json.loads(for_program)
    assert (record["request_id"], record["key_id"]) == ("client-id_123", key.public_id)
    assert (record["status"], record["code"], record["route"]) == (404, "not_found", "/v1")
    assert f"GET /v1 404 not_found {key.public_id}" in for_people


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_a_page_that_is_not_of_the_api_keeps_its_own_manners(
    method: str, settings: Settings, db: None
) -> None:
    for path in ("/v1%0A", "/v1%0A/me", "/v1x", "/V1/me", "/v2/me", "/docs/v1/"):
        answer = ApiClient().call(method, path)
        assert answer.status_code == 404
        assert answer.headers["Content-Type"].startswith("text/html")


class TestOrder:
    """Where several things are wrong, the first in the documented order is told."""

    def test_401_before_all_others(self) -> None:
        answer = ApiClient().call("PUT", "/v1/nothing", b"x" * 9000, Accept="text/html")
        assert code_of(answer) == "missing_api_key"

    def test_429_before_403(self, account: Account, caller: ApiClient) -> None:
        Account.objects.update(requests_per_minute=1, suspended_at="2026-01-01T00:00Z")
        assert code_of(caller.get("/v1/me")) == "account_suspended"
        assert code_of(caller.get("/v1/me")) == "rate_limit_exceeded"

    def test_403_before_404(self, account: Account, caller: ApiClient) -> None:
        Account.objects.update(suspended_at="2026-01-01T00:00Z")
        assert code_of(caller.get("/v1/nothing")) == "account_suspended"

    def test_404_before_406(self, caller: ApiClient) -> None:
        assert code_of(caller.get("/v1/nothing", Accept="text/html")) == "not_found"

    def test_405_before_406(self, caller: ApiClient) -> None:
        assert code_of(caller.get("/v1/validate", Accept="text/html")) == "method_not_allowed"

    def test_406_before_411(self, caller: ApiClient) -> None:
        headers = {"Accept": "text/html", "Transfer-Encoding": "chunked"}
        assert code_of(caller.send(b"", **headers)) == "not_acceptable"

    def test_411_where_a_body_came_in_chunks_through_a_server_that_cannot_read_them(
        self, caller: ApiClient
    ) -> None:
        answer = caller.send(b"", Transfer_Encoding="chunked")
        assert code_of(answer) == "length_required"

    def test_413_before_415(self, caller: ApiClient) -> None:
        answer = caller.send(b"x" * 8193, Content_Type="text/plain")
        assert code_of(answer) == "request_too_large"

    def test_415_before_400(self, caller: ApiClient) -> None:
        assert (
            code_of(caller.send(b"no json", Content_Type="text/plain")) == "unsupported_media_type"
        )
