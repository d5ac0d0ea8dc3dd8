"""What holds for the workers of a running product: who waits for the DNS holds nothing that others
need, and what staff list is known to all."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.servers.client import HttpCaller
from tests.servers.dns import World, dns_server, packets
from tests.servers.keys import make_key, manage
from tests.servers.postgres import postgres
from tests.servers.product import product

pytestmark = [pytest.mark.process, pytest.mark.proof]

LIST_A_DOMAIN = (
    "from validation.models import ListedDomain; "
    "ListedDomain.objects.create(domain='burner.com', kind='deny', reason='A wave')"
)
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


def test_every_worker_knows_within_seconds_what_staff_listed(tmp_path: Path) -> None:
    world = World()
    for number in range(100):
        world.takes_mail(f"{number}.burner.com")
    with (
        dns_server(world) as server,
        product(tmp_path, WEB_WORKERS="2", DNS_RESOLVERS=server) as site,
    ):
        secret = make_key(site, "listed@shop.example", 1_000)
        callers = [HttpCaller(site, secret) for _ in range(8)]
        emails = [f"jane@{number}.burner.com" for number in range(8)]

        def reasons() -> set[str]:
            answers = (
                caller.validate(email) for caller, email in zip(callers, emails, strict=True)
            )
            return {answer.document["reason"] for answer in answers}

        before = reasons()
        manage(site, "shell", "-c", LIST_A_DOMAIN)
        time.sleep(5)
        after = reasons()
        for caller in callers:
            caller.close()
    assert (before, after) == ({"domain_accepts_mail"}, {"disposable"})
