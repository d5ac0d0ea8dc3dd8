"""A product in production, for all tests of the proxies that are shipped with it."""

from collections.abc import Iterator

import pytest

from tests.servers.keys import make_key
from tests.servers.product import Product, migrated_postgres, product
from tests.servers.production import ENVIRONMENT


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with migrated_postgres() as url:
        environment = {**ENVIRONMENT, "DATABASE_URL": url, "WEB_WORKERS": "1"}
        environment["ANONYMOUS_REQUESTS_PER_MINUTE"] = "1000"
        with product(tmp_path_factory.mktemp("product"), **environment) as running:
            yield running


@pytest.fixture(scope="package")
def secret(site: Product) -> str:
    return make_key(site, "proxy@shop.example", 100_000)
