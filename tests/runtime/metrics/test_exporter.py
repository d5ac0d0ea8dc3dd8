"""The running product exports metrics of all its processes over HTTP."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.config.server.test_make_serve import children, find_child
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.product import ROOT, Product, product
from tests.servers.programs import run_program
from tests.servers.redis import free_port, wait_for_port
from tests.servers.web_workers import stop_web_workers
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof]

PREFIX = "emailvalidation_"


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("measured")
    with product(folder, METRICS_PORT=str(port)) as running:
        yield running


def fetch(port: int, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as response:
        return str(response.read().decode())


def scrape(port: int) -> dict[tuple[str, ...], float]:
    """Return values by metric name and label values, in the order of the label names."""
    return {
        (
            sample.name.removeprefix(PREFIX),
            *(value for _, value in sorted(sample.labels.items())),
        ): sample.value
        for family in text_string_to_metric_families(fetch(port))
        for sample in family.samples
    }


def wait_for_metrics(port: int, condition: Callable[[dict[tuple[str, ...], float]], bool]) -> None:
    wait_until(lambda: condition(scrape(port)))


def validation_count(metrics: dict[tuple[str, ...], float]) -> float:
    return metrics.get(("http_requests_total", "", "POST", "api", "/v1/validate", "200"), 0)


def send_requests(site: Product, secret: str) -> None:
    """Send 253 requests: 240 results, and 13 refusals and errors."""
    for _ in range(6):
        caller = HttpCaller(site, secret)
        for _ in range(20):
            assert caller.validate("jane@shop.example").status == 200
            assert caller.validate("deliverable@sandbox.test").status == 200
        assert caller.get("/v1/nothing").status == 404
        assert caller.validate("internal_error@sandbox.test").status == 500
        caller.close()
    assert HttpCaller(site, None).get().status == 401


def test_requests_of_two_workers_are_counted_exactly(site: Product, port: int) -> None:
    secret = make_key(site, "measured@shop.example", 100_000, 1000)
    before = scrape(port)
    send_requests(site, secret)
    duration_count = ("http_request_duration_seconds_count", "api")
    expected_count = before.get(duration_count, 0) + 253
    wait_for_metrics(
        port,
        lambda metrics: (
            # Each worker flushes on its own: the last request's worker may be the later one.
            metrics.get(duration_count, 0) >= expected_count
            and validation_count(metrics) - validation_count(before) >= 240
        ),
    )
    after = scrape(port)

    def increase(*name: str) -> float:
        return after.get(name, 0) - before.get(name, 0)

    assert increase("http_requests_total", "", "POST", "api", "/v1/validate", "200") == 240
    assert increase("http_requests_total", "not_found", "GET", "api", "/v1", "404") == 6
    assert increase("http_requests_total", "sandbox", "POST", "api", "/v1/validate", "500") == 6
    assert increase("http_request_duration_seconds_count", "api") == 253
    assert increase("http_request_duration_seconds_bucket", "+Inf", "api") == 253
    assert increase("validations_total", "reserved_domain", "api", "undeliverable") == 120
    assert increase("validations_total", "mailbox_accepted", "sandbox", "deliverable") == 120
    assert increase("credits_charged_total") == 120
    assert 1 <= increase("charge_batches_total") <= 120
    assert increase("authentication_refusals_total", "missing_api_key") == 1
    assert after["processes", "web"] == 2
    assert after["processes", "background"] == 1
    assert after["process_memory_bytes", "web"] > 2 * 10_000_000
    assert after["limiter_open",] == 0


def test_counts_of_a_killed_worker_stay(site: Product, port: int) -> None:
    caller = HttpCaller(site, make_key(site, "killed@shop.example", 100_000, 1000))
    before = validation_count(scrape(port))
    for _ in range(10):
        caller.validate("jane@shop.example")
    caller.close()
    wait_for_metrics(port, lambda metrics: validation_count(metrics) == before + 10)
    web = find_child(site, "gunicorn")
    killed = children(web)
    for worker in killed:
        os.kill(worker, signal.SIGKILL)
    wait_until(lambda: len(set(children(web)) - set(killed)) == 2)
    wait_for_metrics(port, lambda metrics: metrics.get(("processes", "web")) == 2)
    assert validation_count(scrape(port)) == before + 10
    live = (site.folder / "metrics").glob("gauge_live*.db")
    assert not {int(path.stem.rpartition("_")[2]) for path in live} & set(killed)


@pytest.mark.fault
def test_restart_of_the_web_workers_loses_no_counts(site: Product, port: int) -> None:
    caller = HttpCaller(site, make_key(site, "reloaded@shop.example", 100_000, 1000))
    before = validation_count(scrape(port))
    for _ in range(10):
        caller.validate("jane@shop.example")
    # The workers stop before their next regular flush.
    stop_web_workers(site)
    caller.close()
    wait_for_metrics(port, lambda metrics: validation_count(metrics) == before + 10)


def test_metrics_identify_no_one(site: Product, port: int) -> None:
    secret = make_key(site, "secretive@shop.example", 100_000, 1000)
    caller = HttpCaller(site, secret)
    for path in (
        f"/v1/{secret}",
        f"/{secret}",
        "/v1/joe@people.example",
        "/docs/joe@people.example/",
    ):
        caller.get(path)
    caller.validate("joe@people.example")
    caller.call(f"X{secret[9:25]}", "/v1/me")
    caller.close()
    wait_for_metrics(port, lambda metrics: any("other" in labels for labels in metrics))
    text = fetch(port)
    for private in (secret[9:20], "joe", "people.example", "127.0.0.1"):
        assert private not in text
    assert not re.search("(acc|key|req)_[0-9A-Za-z]{15}", text)
    assert text.count("\n") < 1500


def test_metrics_port_serves_nothing_else(site: Product, port: int) -> None:
    for path in ("/", "/v1/me", "/metrics/../x", "/accounts/login/"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            fetch(port, path)
        assert refused.value.code == 404
        refused.value.close()
    with pytest.raises(urllib.error.HTTPError) as hidden:
        urllib.request.urlopen(f"{site.url}/metrics", timeout=10)
    assert hidden.value.code == 404
    hidden.value.close()


def test_silent_connections_do_not_block_scrapes(site: Product, port: int) -> None:
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    assert "build_info" in fetch(port)
    for connection in silent:
        connection.close()


def test_metrics_port_in_use_is_reported(site: Product, tmp_path: Path, port: int) -> None:
    environment = {"DATA_DIR": str(tmp_path), "PORT": str(free_port()), "METRICS_PORT": str(port)}
    process = run_program("-m", "config.server.supervisor", **environment)
    assert process.returncode == 1
    assert f"metrics on 127.0.0.1, port {port}: Address already in use" in process.stderr
    assert "METRICS_PORT" in process.stderr
    assert "build_info" in fetch(port)


def test_command_serves_the_same_counts_where_no_background_worker_runs(
    site: Product, port: int, tmp_path: Path
) -> None:
    other = free_port()
    environment = {**site.process_environment, "METRICS_PORT": str(other)}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve_metrics"],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=log,
        )
        wait_for_port(other)
        web = ("processes", "web")
        # An earlier test may have ended a worker.
        wait_until(lambda: scrape(other).get(web) == scrape(port).get(web) == 2)
        process.terminate()
        assert process.wait(timeout=20) == 0
    assert (tmp_path / "log").read_text() == ""
