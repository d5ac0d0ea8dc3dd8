"""A frozen clock, so that a rate-limit window doesn't end while a test counts requests."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine


@pytest.fixture(autouse=True)
def freeze_time_but_not_processes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Freeze the time, except in tests that start processes with their own clock."""
    if request.node.get_closest_marker("process"):
        yield
        return
    with time_machine.travel(datetime.now(UTC), tick=False):
        yield
