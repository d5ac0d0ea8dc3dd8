"""Cache the results of health checks, so that frequent probes put no load on the server checked."""

import logging
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)


class HealthCheckCache:
    """Run a check in a background thread, one at a time, and cache its result.

    A check that takes longer than `timeout` seconds counts as unhealthy.
    """

    def __init__(
        self,
        check: Callable[[], bool],
        *,
        timeout: float,
        healthy_ttl: float,
        unhealthy_ttl: float,
    ) -> None:
        """`healthy_ttl`, `unhealthy_ttl`: seconds to cache the result, from the check's start."""
        self._check = check
        self._timeout = timeout
        self._healthy_ttl, self._unhealthy_ttl = healthy_ttl, unhealthy_ttl
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        self._result = False
        self._started_at = self._next_check_at = 0.0
        self._done = threading.Event()
        self._done.set()

    def refresh(self) -> None:
        """Start a check, unless one is running or the cached result is still valid."""
        with self._lock:
            if not self._done.is_set() or time.monotonic() < self._next_check_at:
                return
            self._started_at = time.monotonic()
            self._done.clear()
        threading.Thread(target=self._run, args=[self._done], daemon=True).start()

    def is_healthy(self) -> bool:
        """Return the latest result; wait for a running check until its timeout."""
        return self.wait(self._started_at + self._timeout - time.monotonic()) and self._result

    def wait(self, seconds: float) -> bool:
        """Return whether the running check, if any, ended within this time."""
        return self._done.wait(max(0.0, seconds))

    def _run(self, done: threading.Event) -> None:
        result = False
        try:
            result = self._check()
        # Any error means unhealthy.
        except Exception as error:
            logger.debug("Health check failed", exc_info=error)
        finally:
            # After a reset, the result of an earlier check is discarded.
            if done is self._done:
                self._result = result
                seconds = self._healthy_ttl if result else self._unhealthy_ttl
                self._next_check_at = self._started_at + seconds
            done.set()
