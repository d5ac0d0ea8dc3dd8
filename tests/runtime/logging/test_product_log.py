"""The running product logs one record per request, in both formats, without secrets."""

import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.config.server.test_make_serve import background_workers, children, find_child
from tests.config.server.test_web_worker import UNREADABLE
from tests.servers.client import HttpCaller
from tests.servers.keys import make_account
from tests.servers.product import Product, product
from tests.servers.raw_http import send_raw
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof]

EMAIL = "whole.address@people.example"
BACKGROUND = r"runtime\.(jobs\.daily|mail\.outbox)"
LINE = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [\w.]+ \[\S+ \S+\] [^\x00-\x1f\x7f]+"
)


@pytest.fixture(scope="module", params=["json", "text"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp(request.param)
    with product(folder, LOG_FORMAT=request.param) as running:
        yield running


def is_json(site: Product) -> bool:
    return site.environment["LOG_FORMAT"] == "json"


def records(site: Product) -> list[str]:
    """Return the log lines after the startup message, but for those of work in the background."""
    _, _, log = site.output().partition("Ready. Ctrl-C stops it.")
    return [line for line in log.split("\n") if line and not re.search(BACKGROUND, line)]


def access_records(site: Product) -> list[str]:
    words = '"duration_ms":' if is_json(site) else " ms "
    return [line for line in records(site) if words in line]


def unusual_requests(secret: str) -> list[bytes]:
    """Return unusual requests. Each gets one response, on a separate connection."""
    targets = [
        f"GET /v1/{secret}",
        f"GET /{secret}/",
        f"GET /v1/me?key={secret}&email={EMAIL}",
        f"GET /docs/{EMAIL}/",
        f"GET /accounts/login/?next=/{EMAIL}",
        f"GET /accounts/password/reset/key/{secret[9:]}/",
        f"GET /{EMAIL}",
        "GET /%0A%0D%1b[31m%E2%80%AE%00",
        "GET /%ff%fe%c0%80",
        f"{secret[9:25]} /v1/me",
        f"X{EMAIL[:9]} /v1/me",
        f"PROPFIND /v1/{EMAIL}",
    ]
    headers = [
        b"Host: 127.0.0.1",
        b"Host: 127.0.0.1\r\nReferer: http://127.0.0.1/?%s" % EMAIL.encode(),
        b"Host: 127.0.0.1\r\nUser-Agent: %s \xff\xfe\x80" % secret.encode(),
        b"Host: 127.0.0.1\r\nX-Request-Id: %s" % secret[9:].encode(),
        b"Host: 127.0.0.1\r\nX-Forwarded-For: %s" % EMAIL.encode(),
        b"Host: 127.0.0.1\r\nCookie: session=%s; key=%s" % (EMAIL.encode(), secret.encode()),
        b"Host: 127.0.0.1\r\nAuthorization: Basic %s" % secret.encode(),
        b"Host: 127.0.0.1\r\nAuthorization: Bearer %sx" % secret.encode(),
        b"Host: %s" % EMAIL.partition("@")[2].encode(),
    ]
    requests = [target.encode() + b" HTTP/1.1\r\n" + headers[0] for target in targets]
    requests += [b"GET /v1/me HTTP/1.1\r\n" + lines for lines in headers]
    requests += [b"GET /accounts/login/ HTTP/1.1\r\n" + lines for lines in headers]
    return [request + b"\r\nConnection: close\r\n\r\n" for request in requests]


def test_each_request_is_one_record_whatever_it_contains(site: Product) -> None:
    password, secret = make_account(site, EMAIL)
    before, lines = len(access_records(site)), len(records(site))
    requests = [*unusual_requests(secret), *UNREADABLE.values()]
    for request in requests:
        send_raw(site, request, end=True)
    wait_until(lambda: len(access_records(site)) - before >= len(requests))
    assert len(access_records(site)) - before == len(requests)
    # There are no other records.
    assert len(records(site)) - lines == len(requests)
    log = site.output()
    for private in (secret[9:20], EMAIL, "whole.address", password):
        assert private not in log


def test_each_line_has_the_configured_format(site: Product) -> None:
    caller = HttpCaller(site, site.owner_key())
    assert caller.validate("deliverable@sandbox.test").status == 200
    wait_until(lambda: any("deliverable" in line for line in records(site)))
    caller.close()
    assert records(site)
    for line in records(site):
        assert LINE.fullmatch(line) if not is_json(site) else read(line)
    if is_json(site):
        record = next(fields for fields in map(json.loads, records(site)) if fields.get("verdict"))
        assert record["account_id"].startswith("acc_")
        assert record["key_id"].startswith("key_")
        assert (record["route"], record["status"]) == ("/v1/validate", 200)


def read(line: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(line)
    assert {"time", "level", "logger", "message", "request_id", "account_id"} <= set(fields)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", fields["time"])
    return fields


def test_web_server_and_supervisor_log_in_the_configured_format(site: Product) -> None:
    before = len(records(site))
    (background,) = background_workers(site)
    os.kill(background, signal.SIGKILL)
    os.kill(children(find_child(site, "gunicorn"))[0], signal.SIGKILL)
    wait_until(lambda: "run_worker` ended" in "".join(records(site)[before:]))
    wait_until(lambda: "SIGKILL" in "".join(records(site)[before:]))
    for line in records(site)[before:]:
        assert LINE.fullmatch(line) if not is_json(site) else read(line)


@pytest.mark.fault
def test_unread_log_does_not_block_requests(tmp_path: Path) -> None:
    """The pipe is full after some two hundred records."""
    reads, writes = os.pipe()
    running = Product(tmp_path, errors=writes, LOG_FORMAT="json")
    os.close(writes)
    pipe = os.fdopen(reads, "rb")
    try:
        running.wait_until_ready()
        caller = HttpCaller(running, running.owner_key())
        responses = [*caller.get_concurrently(1000), caller.get()]
        time.sleep(1.5)
        responses += caller.get_concurrently(100)
        caller.close()
        assert {response.status for response in responses} <= {200, 429}
        read_lines: list[bytes] = []
        reader = threading.Thread(target=lambda: read_lines.extend(pipe))
        reader.start()
    finally:
        running.stop()
    reader.join(30)
    pipe.close()
    logged = [json.loads(line) for line in read_lines]
    assert sum(record.get("route") == "/v1/me" for record in logged) == len(responses)
