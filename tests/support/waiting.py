"""Wait for what another thread, process or server does."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], seconds: float = 60, pause: float = 0.02) -> None:
    ends_at = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends_at:
            raise TimeoutError
        time.sleep(pause)
