"""An account's own domains across the web workers of a running product."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Barrier

import pytest

from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_key
from tests.servers.product import Product, migrated_postgres, product

pytestmark = [pytest.mark.process, pytest.mark.proof]

EMAIL = "jane@shop.com"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> object:
    """Run two workers. The connections below are spread over both."""
    with start(tmp_path_factory.mktemp("product"), request.param == "postgresql") as running:
        yield running


@contextmanager
def start(folder: Path, on_postgresql: bool) -> Iterator[Product]:
    fake_dns = FakeDns()
    fake_dns.add_mail_domain("shop.com")
    with ExitStack() as stack:
        environment = {"DNS_RESOLVERS": stack.enter_context(dns_server(fake_dns))}
        if on_postgresql:
            environment["DATABASE_URL"] = stack.enter_context(migrated_postgres())
        yield stack.enter_context(product(folder, WEB_WORKERS="2", **environment))


def put(
    caller: HttpCaller, denied: list[str], headers: dict[str, str] | None = None
) -> ClientResponse:
    return caller.call("PUT", "/v1/domains", json.dumps({"allowed": [], "denied": denied}), headers)


def test_change_is_seen_by_the_next_call_of_every_worker(site: Product) -> None:
    secret = make_key(site, "owner@lists.example", 10_000, credits=10_000)
    callers = [HttpCaller(site, secret) for _ in range(12)]
    wrong = []
    for turn in range(40):
        denied = [] if turn % 4 == 3 else ["shop.com"] if turn % 2 else [f"other{turn}.com"]
        assert put(callers[turn % 12], denied).status == 200
        expected = "denied" if denied == ["shop.com"] else None
        for number, caller in enumerate(callers):
            result = caller.validate(EMAIL).document
            if result["account_list"] != expected:
                wrong.append((turn, number, result["account_list"]))
    assert wrong == []


def test_one_of_several_changes_with_the_same_etag_wins(site: Product) -> None:
    secret = make_key(site, "owner@races.example", 10_000)
    callers = [HttpCaller(site, secret) for _ in range(8)]
    for turn in range(10):
        etag = callers[0].call("GET", "/v1/domains").headers["ETag"]
        barrier = Barrier(len(callers))

        def change(
            number: int, turn: int = turn, etag: str = etag, barrier: Barrier = barrier
        ) -> int:
            barrier.wait()
            domains = [f"turn{turn}-caller{number}.example"]
            return put(callers[number], domains, {"If-Match": etag}).status

        with ThreadPoolExecutor(len(callers)) as pool:
            statuses = list(pool.map(change, range(len(callers))))
        assert sorted(statuses) == [200, *[412] * 7]
        (denied,) = callers[0].call("GET", "/v1/domains").document["denied"]
        assert denied == f"turn{turn}-caller{statuses.index(200)}.example"


def test_calls_during_changes_see_one_of_the_two_versions(site: Product) -> None:
    secret = make_key(site, "owner@mixed.example", 100_000, credits=10_000)
    writer, reader = HttpCaller(site, secret), HttpCaller(site, secret)
    versions = {"both": ["shop.com", "other.example"], "one": ["shop.com"]}

    def write() -> set[int]:
        return {put(writer, versions["one" if n % 2 else "both"]).status for n in range(60)}

    def read() -> set[object]:
        results = (reader.validate(EMAIL).document for _ in range(30))
        return {result["account_list"] for result in results}

    put(writer, versions["both"])
    with ThreadPoolExecutor(5) as pool:
        written, *seen = pool.submit(write), *(pool.submit(read) for _ in range(4))
        assert written.result() == {200}
        assert {found for future in seen for found in future.result()} == {"denied"}
