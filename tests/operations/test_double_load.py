"""Twice as much is asked as the product can answer: it stays on its feet."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.bench.overload import overload, stores
from tests.servers.product import Product

pytestmark = [pytest.mark.process, pytest.mark.fault]


@pytest.fixture(scope="module")
def sites() -> Iterator[dict[str, Product]]:
    with stores() as sites:
        yield sites


@pytest.mark.parametrize("store", ["PostgreSQL, Redis", "SQLite"])
def test_at_twice_the_top_rate_it_answers_keeps_its_memory_and_recovers(
    sites: dict[str, Product], store: str
) -> None:
    with ThreadPoolExecutor(1) as executor:
        seen = overload(executor, sites[store], seconds=5, top_seconds=1.5, accounts=20)
    assert seen.odd_statuses == set()
    assert {200, 429} <= set(seen.over.by_status)
    # Machines differ, and this one has other things to do.
    assert seen.growth < 1.5
    (*_, last) = seen.after
    assert set(last.by_status) <= {200, 429}
    assert last.percentile(50) < 10 * seen.before.percentile(50) + 0.5
    assert "Traceback" not in sites[store].output()
