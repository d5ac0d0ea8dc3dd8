"""Batches sent to a running product: several workers, both counters, slow DNS and races."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.dns import FakeDns, dns_server, packet_server
from tests.servers.keys import make_key, make_window_end_in, manage
from tests.servers.product import Product, product
from tests.servers.redis import redis

pytestmark = [pytest.mark.process, pytest.mark.proof]

BATCH, LIMIT = 7, 100
DNS_SECONDS = 2.0


def send(caller: HttpCaller, emails: list[str], **headers: str) -> ClientResponse:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return caller.call("POST", "/v1/validate/batch", json.dumps({"emails": emails}), headers)


def sandbox_batch() -> list[str]:
    return [f"deliverable+{number}@sandbox.test" for number in range(BATCH)]


@pytest.fixture(params=["sqlite", "redis"], scope="module")
def eight(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp(request.param)
    with redis() as url:
        store = {"REDIS_URL": url} if request.param == "redis" else {}
        with product(folder, WEB_WORKERS="8", **store) as running:
            yield running


def test_eight_processes_count_batches_exactly(eight: Product) -> None:
    """A refused batch has consumed one request, as any refused request has."""
    secret = make_key(eight, "exact@shop.example", LIMIT)
    make_window_end_in(50, eight, "exact@shop.example")
    caller = HttpCaller(eight, secret)
    with ThreadPoolExecutor(16) as pool:
        responses = list(pool.map(lambda _: send(caller, sandbox_batch()), range(40)))
    statuses = Counter(response.status for response in responses)
    accepted, refused = statuses[200], statuses[429]
    assert accepted + refused == 40
    remaining = min(
        int(response.headers["X-RateLimit-Remaining"])
        for response in responses
        if response.status == 200
    )
    # Every accepted batch consumed exactly seven, and there was no room for another one.
    assert accepted * BATCH <= LIMIT
    assert LIMIT - remaining >= accepted * BATCH
    assert accepted >= (LIMIT - 40) // BATCH
    caller.close()


def test_racing_batches_with_one_key_are_charged_once(eight: Product) -> None:
    email = "racing@shop.example"
    caller = HttpCaller(eight, make_key(eight, email, 10_000, credits=100))
    emails = [f"address {number}" for number in range(10)]
    with ThreadPoolExecutor(16) as pool:
        responses = list(
            pool.map(lambda _: send(caller, emails, Idempotency_Key="import-1"), range(32))
        )
    assert {response.status for response in responses} == {200}
    assert len({response.text for response in responses}) == 1
    charged = [int(response.headers["X-Credits-Cost"]) for response in responses]
    assert sorted(charged) == [0] * 31 + [10]
    assert caller.get("/v1/credits").document["balance"] == 90
    caller.close()
    assert manage(eight, "check_books").endswith(" agree.")


def test_batch_of_hanging_domains_ends_at_its_deadline(tmp_path: Path) -> None:
    with packet_server(lambda wire: []) as silent:
        environment = {"DNS_RESOLVERS": silent, "DNS_TIMEOUT": f"{DNS_SECONDS}"}
        with product(tmp_path, WEB_WORKERS="1", **environment) as site:
            caller = HttpCaller(site, make_key(site, "slow@shop.example", 1_000))
            other = HttpCaller(site, make_key(site, "other@shop.example", 1_000))
            emails = [f"jane@shop{number}.com" for number in range(99)]
            with ThreadPoolExecutor(1) as pool:
                batch = pool.submit(send, caller, [*emails, "no address"])
                quick = [other.validate("no address") for _ in range(10)]
                response = batch.result()
            caller.close()
            other.close()
    assert response.status == 200
    assert response.document["summary"]["unknown"] == 99
    assert response.headers["X-Credits-Cost"] == "1"
    assert response.seconds < DNS_SECONDS + 3
    assert {single.status for single in quick} == {200}


def test_batch_of_cold_domains_gets_definite_verdicts(tmp_path: Path) -> None:
    fake_dns = FakeDns()
    for number in range(100):
        fake_dns.add_mail_domain(f"shop{number}.com")
    with (
        dns_server(fake_dns) as server,
        product(tmp_path, WEB_WORKERS="1", DNS_RESOLVERS=server) as site,
    ):
        caller = HttpCaller(site, make_key(site, "cold@shop.example", 1_000))
        response = send(caller, [f"jane@shop{number}.com" for number in range(100)])
        caller.close()
    assert response.document["summary"]["deliverable"] == 100
