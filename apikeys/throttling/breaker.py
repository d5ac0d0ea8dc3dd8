"""A circuit breaker for the store of rate limits.

After a failure, requests skip the store, and a thread probes it until it works.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from runtime.metrics.client import Counter

logger = logging.getLogger(__name__)

outages = Counter(
    "emailvalidation_limiter_outages",
    "Times that a web worker found the rate-limit store unavailable.",
)

PROBE_SECONDS = 1.0
LOG_INTERVAL_SECONDS = 60.0


class Breaker:
    def __init__(self, is_healthy: Callable[[], bool]) -> None:
        self.is_open = False
        self._is_healthy = is_healthy
        self._lock = threading.Lock()
        self._logged_at = -LOG_INTERVAL_SECONDS
        self._outage_was_logged = False

    def trip(self, error: Exception) -> None:
        with self._lock:
            if self.is_open:
                return
            self.is_open = True
        outages.inc()
        self._log(type(error).__name__)
        threading.Thread(target=self._close_when_healthy, daemon=True).start()

    def _close_when_healthy(self) -> None:
        while self.is_open:
            time.sleep(PROBE_SECONDS)
            # Any exception of the store's library means that it isn't healthy.
            with suppress(Exception):
                self.is_open = not self._is_healthy()
            if self.is_open:
                self._log("still unavailable")
            elif self._outage_was_logged:
                self._outage_was_logged = False
                logger.warning("The rate-limit store is available again.")

    def _log(self, reason: str) -> None:
        if time.monotonic() - self._logged_at >= LOG_INTERVAL_SECONDS:
            self._logged_at = time.monotonic()
            self._outage_was_logged = True
            logger.error(
                "The rate-limit store is unavailable (%s). Each web worker counts requests on its "
                "own and applies its share of the limits.",
                reason,
            )
