"""A minute that does not end while a test counts."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine


@pytest.fixture(autouse=True)
def freeze_time_but_not_processes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Also for requests that a test counts: their window lasts as long as the test."""
    if request.node.get_closest_marker("process"):
        yield
        return
    with time_machine.travel(datetime.now(UTC), tick=False):
        yield
