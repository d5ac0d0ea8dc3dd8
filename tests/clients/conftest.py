"""A product that all clients call. Each test file makes a key of its own."""

from collections.abc import Iterator

import pytest

from tests.servers.product import Product, product


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    with product(folder, WEB_WORKERS="1", LIST_PROCESSES="1") as running:
        yield running
