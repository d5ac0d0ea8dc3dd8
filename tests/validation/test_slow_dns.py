"""Callers who wait for the DNS hold nothing that others need."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.servers.client import HttpCaller
from tests.servers.dns import packets
from tests.servers.keys import make_key
from tests.servers.postgres import postgres
from tests.servers.product import product

pytestmark = [pytest.mark.process, pytest.mark.proof]

WAITING, CONNECTIONS, DNS_SECONDS = 24, 4, 3.0


def test_who_waits_for_the_dns_holds_no_database_connection(tmp_path: Path) -> None:
    """More callers than connections wait; another one is answered meanwhile."""
    environment = {
        "WEB_WORKERS": "1",
        "WEB_THREADS": str(CONNECTIONS),
        "DNS_TIMEOUT": str(DNS_SECONDS),
    }
    with postgres() as url, packets(lambda wire: []) as silent:
        environment |= {"DATABASE_URL": url, "DNS_RESOLVERS": silent}
        with product(tmp_path, **environment) as site:
            slow = HttpCaller(site, make_key(site, "slow@shop.example", 1_000))
            other = HttpCaller(site, make_key(site, "other@shop.example", 1_000))
            with ThreadPoolExecutor(WAITING) as pool:
                waiting = [
                    pool.submit(slow.validate, f"jane@shop{number}.com")
                    for number in range(WAITING)
                ]
                time.sleep(DNS_SECONDS / 3)
                quick = [other.validate("no address") for _ in range(10)]
                assert not any(one.done() for one in waiting)
                slept = [one.result() for one in waiting]
            for caller in (slow, other):
                caller.close()
    assert {answer.status for answer in (*quick, *slept)} == {200}
    assert {answer.document["reason"] for answer in slept} == {"dns_timeout"}
    assert max(answer.seconds for answer in slept) < DNS_SECONDS + 1
