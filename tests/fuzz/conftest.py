"""A product that runs, for the targets that talk to it over sockets."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.servers.books import number
from tests.servers.dns import World, dns_server
from tests.servers.keys import manage
from tests.servers.product import Product

CALLER, HARBOUR = "caller@shop.example", "mira@harbour.example"
BALANCE = """
SELECT w.balance - w.debt FROM credits_wallet w
JOIN accounts_membership m ON m.account_id = w.account_id
JOIN accounts_user u ON u.id = m.user_id WHERE u.email = 'caller@shop.example'
"""


@dataclass(frozen=True)
class Fuzzed:
    site: Product
    key: str
    harbours_key: str

    def balance(self) -> int:
        return number(self.site, BALANCE)


@pytest.fixture(scope="session")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    world = World()
    world.takes_mail("shop.com")
    given: dict[str, Any] = {
        "WEB_WORKERS": "1",
        "ANONYMOUS_REQUESTS_PER_MINUTE": "1000000",
        "DNS_TIMEOUT": "0.5",
    }
    with dns_server(world) as resolver:
        site = Product(tmp_path_factory.mktemp("fuzzed"), DNS_RESOLVERS=resolver, **given)
        try:
            # Beside another target that keeps its core busy.
            site.wait_until_ready(100)
            yield Fuzzed(site, *_keys(site, CALLER, HARBOUR))
        finally:
            site.stop()


def _keys(site: Product, *emails: str) -> list[str]:
    """By one process: most of the time goes into its start."""
    terms = "credits=1_000_000, requests_per_minute=1_000_000"
    commands = (
        "from django.core.management import call_command as run\n"
        f"for email in {emails!r}:\n"
        f"    run('create_account', email, {terms})\n"
        "    run('create_key', email, name='Server')"
    )
    return manage(site, "shell", "--no-imports", "-c", commands).splitlines()[1::2]
