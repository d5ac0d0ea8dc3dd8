"""The product conforms to its OpenAPI document."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.openapi import check_conformance
from tests.servers.keys import make_key
from tests.servers.product import Product, product

pytestmark = [pytest.mark.process, pytest.mark.proof]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    # Callers without a valid key get 401 instead of 429, however many a fast machine generates.
    without_limit = {"ANONYMOUS_REQUESTS_PER_MINUTE": "1000000"}
    with product(tmp_path_factory.mktemp("described"), **without_limit) as running:
        yield running


def test_product_conforms_to_its_openapi_document(site: Product, tmp_path: Path) -> None:
    secret = make_key(site, "described@shop.example", 1_000_000, credits=1_000_000)
    options = ("--phases", "examples,coverage,fuzzing", "--max-examples", "40", "--seed", "1")
    assert check_conformance(site, secret, tmp_path, *options) > 100
