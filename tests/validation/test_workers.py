"""Workers of a running product: requests that wait for DNS, and staff domains in all workers."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.servers.client import HttpCaller
from tests.servers.dns import FakeDns, dns_server, packet_server
from tests.servers.keys import make_key, manage
from tests.servers.product import migrated_postgres, product
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof]

LIST_A_DOMAIN = (
    "from validation.models import ListedDomain; "
    "ListedDomain.objects.create(domain='burner.com', kind='deny', reason='A wave')"
)
WAITING, CONNECTIONS, DNS_SECONDS = 24, 4, 6.0


def test_request_that_waits_for_dns_holds_no_database_connection(tmp_path: Path) -> None:
    """More requests wait for DNS than there are connections; another request gets a response."""
    environment = {
        "WEB_WORKERS": "1",
        "WEB_THREADS": str(CONNECTIONS),
        "DNS_TIMEOUT": str(DNS_SECONDS),
    }
    with migrated_postgres() as url, packet_server(lambda wire: []) as silent:
        environment |= {"DATABASE_URL": url, "DNS_RESOLVERS": silent}
        with product(tmp_path, **environment) as site:
            slow = HttpCaller(site, make_key(site, "slow@shop.example", 1_000))
            other = HttpCaller(site, make_key(site, "other@shop.example", 1_000))
            with ThreadPoolExecutor(WAITING) as pool:
                waiting = [
                    pool.submit(slow.validate, f"jane@shop{number}.com")
                    for number in range(WAITING)
                ]
                time.sleep(DNS_SECONDS / 4)
                quick = [other.validate("no address") for _ in range(10)]
                assert not any(future.done() for future in waiting)
                slow_responses = [future.result() for future in waiting]
            for caller in (slow, other):
                caller.close()
    assert {response.status for response in (*quick, *slow_responses)} == {200}
    assert {response.document["reason"] for response in slow_responses} == {"dns_timeout"}
    # If four at a time had waited, the last ones would take six times as long.
    assert max(response.seconds for response in slow_responses) < 2 * DNS_SECONDS


def test_every_worker_applies_staff_domains_within_seconds(tmp_path: Path) -> None:
    fake_dns = FakeDns()
    for number in range(100):
        fake_dns.add_mail_domain(f"{number}.burner.com")
    with (
        dns_server(fake_dns) as server,
        product(tmp_path, WEB_WORKERS="2", DNS_RESOLVERS=server) as site,
    ):
        secret = make_key(site, "listed@shop.example", 1_000)
        callers = [HttpCaller(site, secret) for _ in range(8)]
        emails = [f"jane@{number}.burner.com" for number in range(8)]

        def reasons() -> set[str]:
            responses = (
                caller.validate(email) for caller, email in zip(callers, emails, strict=True)
            )
            return {response.document["reason"] for response in responses}

        before = reasons()
        manage(site, "shell", "-c", LIST_A_DOMAIN)
        wait_until(lambda: reasons() == {"disposable"}, pause=0.5)
        for caller in callers:
            caller.close()
    assert before == {"domain_accepts_mail"}
