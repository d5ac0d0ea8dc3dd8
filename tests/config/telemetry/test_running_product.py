"""The running product reports errors and traces to a receiver, without personal data."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.config.telemetry import failing
from tests.servers.client import HttpCaller
from tests.servers.collector import Collector, run_collector
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_key
from tests.servers.product import Product, product
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof]

# Each test has a domain of its own, which no worker has cached.
DOMAIN = "traced-mailboxes.com"


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with run_collector() as collector:
        yield collector


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, collector: Collector) -> Iterator[Product]:
    dns = FakeDns()
    with (
        dns_server(dns) as resolver,
        product(
            tmp_path_factory.mktemp("watched"),
            DJANGO_SETTINGS_MODULE="tests.config.telemetry.settings",
            SENTRY_DSN=collector.sentry_dsn,
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_TRACES_SAMPLER_ARG="1",
            OTEL_BSP_SCHEDULE_DELAY="100",
            DNS_RESOLVERS=resolver,
        ) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def secret(site: Product) -> str:
    return make_key(site, "owner@watched.example")


@pytest.fixture
def caller(site: Product, secret: str) -> HttpCaller:
    return HttpCaller(site, secret)


def events_of(collector: Collector, request_id: str) -> list[dict[str, Any]]:
    return [event for event in collector.events() if event["tags"]["request_id"] == request_id]


def spans_of(collector: Collector, request_id: str) -> list[Span]:
    """Return the spans of the request's trace, its own first."""
    roots = [
        span
        for span in collector.spans()
        if attributes(span).get("emailvalidation.request_id") == request_id
    ]
    trace = {root.trace_id for root in roots}
    return roots + [s for s in collector.spans() if s.trace_id in trace and s not in roots]


def attributes(span: Span) -> dict[str, Any]:
    values = {each.key: each.value for each in span.attributes}
    return {key: getattr(value, value.WhichOneof("value")) for key, value in values.items()}


def crash(caller: HttpCaller) -> str:
    """Send a request that crashes; return its id."""
    cookie = {"Cookie": f"session={failing.PASSWORD}", "User-Agent": failing.ADDRESS}
    url = f"/v1/crash?email={failing.ADDRESS}&password={failing.PASSWORD}"
    body = json.dumps({"email": failing.ADDRESS, "key": failing.API_KEY})
    response = caller.call("POST", url, body, cookie)
    assert response.status == 500
    return str(response.headers["X-Request-Id"])


def test_error_of_the_api_is_reported_and_traced_with_its_route_and_request(
    caller: HttpCaller, collector: Collector
) -> None:
    request_id = crash(caller)
    wait_until(lambda: events_of(collector, request_id))
    (event,) = events_of(collector, request_id)
    assert event["transaction"] == "POST /v1/crash"
    assert event["logentry"] == {"message": "Uncaught exception"}
    cause, error = event["exception"]["values"]
    assert (cause["type"], error["type"]) == ("KeyError", "Failure")
    assert [frame["function"] for frame in error["stacktrace"]["frames"]][-2:] == ["post", "fail"]
    assert event["environment"] == "local"
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", event["release"])
    wait_until(lambda: spans_of(collector, request_id))
    (span,) = spans_of(collector, request_id)
    assert span.status.code == span.status.STATUS_CODE_ERROR
    assert attributes(span)["emailvalidation.code"] == "internal_error"
    assert not span.events


def test_logged_error_and_crash_of_a_page_are_reported_once(
    caller: HttpCaller, collector: Collector
) -> None:
    response = caller.get(f"/crash/{failing.ADDRESS}/?key={failing.API_KEY}")
    assert response.status == 500
    request_id = response.headers["X-Request-Id"]
    wait_until(lambda: len(events_of(collector, request_id)) == 2)
    logged, crashed = events_of(collector, request_id)
    assert logged["logentry"]["message"] == "Cannot sign in %s with %s and %s"
    assert (crashed["logger"], crashed["transaction"]) == ("django.request", "GET /crash/<text>/")


def test_error_of_the_background_worker_is_reported(site: Product, collector: Collector) -> None:
    wait_until(lambda: [e for e in collector.events() if e["logger"] == "runtime.jobs.rounds"])
    event = next(e for e in collector.events() if e["logger"] == "runtime.jobs.rounds")
    assert event["logentry"]["message"] == "Background work %s failed"
    assert event["exception"]["values"][-1]["type"] == "Failure"


def test_metered_call_is_a_trace_of_request_search_and_charge(
    caller: HttpCaller, collector: Collector
) -> None:
    response = caller.validate(f"whole.address@single.{DOMAIN}")
    assert response.status == 200
    request_id = response.headers["X-Request-Id"]
    wait_until(lambda: len(spans_of(collector, request_id)) == 3)
    request, *children = spans_of(collector, request_id)
    assert request.name == "POST /v1/validate"
    assert request.kind == Span.SPAN_KIND_SERVER
    assert attributes(request) == {
        "http.request.method": "POST",
        "http.route": "/v1/validate",
        "http.response.status_code": 200,
        "emailvalidation.request_id": request_id,
        "emailvalidation.verdict": response.document["verdict"],
    }
    assert [span.name for span in sorted(children, key=lambda s: s.start_time_unix_nano)] == [
        "search DNS",
        "charge",
    ]
    assert {span.parent_span_id for span in children} == {request.span_id}
    (charge,) = (span for span in children if span.name == "charge")
    cost = int(response.headers["X-Credits-Cost"])
    assert attributes(charge) == {"emailvalidation.credits": cost}


def test_batch_says_how_many_addresses_it_has(caller: HttpCaller, collector: Collector) -> None:
    body = json.dumps({"emails": [f"whole.address@batch.{DOMAIN}", f"other@batch.{DOMAIN}"]})
    response = caller.call("POST", "/v1/validate/batch", body)
    request_id = response.headers["X-Request-Id"]
    wait_until(lambda: len(spans_of(collector, request_id)) == 3)
    by_name = {span.name: attributes(span) for span in spans_of(collector, request_id)}
    assert by_name["check batch"] == {"emailvalidation.addresses": 2}
    assert set(by_name) == {"POST /v1/validate/batch", "check batch", "charge"}


def test_trace_of_a_caller_is_not_continued(caller: HttpCaller, collector: Collector) -> None:
    theirs = "4bf92f3577b34da6a3ce929d0e0e4736"
    header = {"traceparent": f"00-{theirs}-00f067aa0ba902b7-00"}
    response = caller.call("GET", "/v1/me", "", header)
    wait_until(lambda: spans_of(collector, response.headers["X-Request-Id"]))
    (span,) = spans_of(collector, response.headers["X-Request-Id"])
    assert (span.trace_id.hex() != theirs, span.parent_span_id) == (True, b"")


def test_spans_come_from_every_web_worker_and_name_the_version(
    caller: HttpCaller, site: Product, collector: Collector
) -> None:
    def resources() -> list[dict[str, str]]:
        found = [each.resource for export in collector.exports() for each in export.resource_spans]
        return [{a.key: a.value.string_value for a in each.attributes} for each in found]

    def are_from_two_workers() -> bool:
        # A connection stays with one worker.
        HttpCaller(site, caller.secret).get()
        return len({each["service.instance.id"] for each in resources()}) == 2

    wait_until(are_from_two_workers)
    for named in resources():
        assert named["service.name"] == "email-validation"
        assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", named["service.version"])
        assert named["deployment.environment.name"] == "local"


def test_nothing_private_leaves(caller: HttpCaller, site: Product, collector: Collector) -> None:
    crash(caller)
    caller.get(f"/crash/{failing.ADDRESS}/?key={failing.API_KEY}")
    caller.get(f"/v1/{failing.ADDRESS}")
    caller.call(failing.API_KEY[9:30], "/v1/me")
    request_id = caller.validate(f"whole.address@private.{DOMAIN}").headers["X-Request-Id"]
    wait_until(lambda: spans_of(collector, request_id))
    content = collector.content()
    assert len(content) > 5000
    assert caller.secret
    for private in (*failing.PRIVATE, DOMAIN, caller.secret[9:]):
        assert private not in content, private


def test_receivers_that_are_down_fail_no_call_and_no_stop(tmp_path: Path) -> None:
    # Nothing listens on this port.
    with product(
        tmp_path,
        DJANGO_SETTINGS_MODULE="tests.config.telemetry.settings",
        SENTRY_DSN="http://public@127.0.0.1:9/1",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
        OTEL_TRACES_SAMPLER_ARG="1",
        OTEL_BSP_SCHEDULE_DELAY="100",
    ) as site:
        caller = HttpCaller(site, make_key(site, "owner@unheard.example"))
        crash(caller)
        for _ in range(20):
            assert caller.validate("jane@shop.example").status == 200
        assert site.wait_for_log_lines("opentelemetry")
    assert site.process.returncode == 0
    assert "SIGKILL" not in site.output()


def test_the_last_errors_are_sent_when_the_product_stops(tmp_path: Path) -> None:
    with run_collector() as collector:
        with product(
            tmp_path,
            DJANGO_SETTINGS_MODULE="tests.config.telemetry.settings",
            SENTRY_DSN=collector.sentry_dsn,
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
            OTEL_TRACES_SAMPLER_ARG="1",
            # Longer than the test.
            OTEL_BSP_SCHEDULE_DELAY="60000",
        ) as site:
            caller = HttpCaller(site, make_key(site, "owner@stopped.example"))
            request_id = crash(caller)
        assert events_of(collector, request_id)
        assert [span.name for span in collector.spans()] == ["POST /v1/crash"]
