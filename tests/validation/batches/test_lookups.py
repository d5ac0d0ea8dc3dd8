"""Batches sent to a running product whose resolver is slow or knows a hundred domains."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.dns import FakeDns, dns_server, packet_server
from tests.servers.keys import make_key
from tests.servers.product import product

pytestmark = [pytest.mark.process, pytest.mark.proof]

DNS_SECONDS = 2.0


def send(caller: HttpCaller, emails: list[str], **headers: str) -> ClientResponse:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return caller.call("POST", "/v1/validate/batch", json.dumps({"emails": emails}), headers)


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
