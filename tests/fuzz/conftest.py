"""A running product, for the targets that talk to it over sockets."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.servers.books import fetch_number
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_key
from tests.servers.product import Product

CALLER, HARBOUR = "caller@shop.example", "mira@harbour.example"
BALANCE = """
SELECT w.balance + w.held - w.debt FROM credits_wallet w
JOIN accounts_membership m ON m.account_id = w.account_id
JOIN accounts_user u ON u.id = m.user_id WHERE u.email = 'caller@shop.example'
"""


@dataclass(frozen=True)
class FuzzedProduct:
    site: Product
    key: str
    other_key: str

    def balance(self) -> int:
        return fetch_number(self.site, BALANCE)


@pytest.fixture(scope="session")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FuzzedProduct]:
    fake_dns = FakeDns()
    fake_dns.add_mail_domain("shop.com")
    settings: dict[str, Any] = {
        "WEB_WORKERS": "1",
        "ANONYMOUS_REQUESTS_PER_MINUTE": "1000000",
        "DNS_TIMEOUT": "0.5",
    }
    with dns_server(fake_dns) as resolver:
        site = Product(tmp_path_factory.mktemp("fuzzed"), DNS_RESOLVERS=resolver, **settings)
        try:
            # Slow, because another target keeps its core busy.
            site.wait_until_ready(100)
            keys = [make_key(site, email, 1_000_000, 1_000_000) for email in (CALLER, HARBOUR)]
            yield FuzzedProduct(site, *keys)
        finally:
            site.stop()
