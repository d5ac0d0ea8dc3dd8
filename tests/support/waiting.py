"""Wait for what another thread or process does."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    ends_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.02)
