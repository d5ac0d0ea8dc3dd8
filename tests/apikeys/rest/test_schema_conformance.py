"""The product does what the description of its API says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.description import hold_to_description
from tests.servers.keys import make_key
from tests.servers.product import Product, product

pytestmark = [pytest.mark.process, pytest.mark.proof]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product(tmp_path_factory.mktemp("described")) as running:
        yield running


def test_the_product_does_what_its_description_says(site: Product, tmp_path: Path) -> None:
    secret = make_key(site, "described@shop.example", 1_000_000, credits=1_000_000)
    how = ("--phases", "examples,coverage,fuzzing", "--max-examples", "200", "--seed", "1")
    assert hold_to_description(site, secret, tmp_path, *how) > 100
