"""Whether the store of the counters may be asked.

A store that is refused, broken or slow would hold up every request that asks it. After the first
failure nobody asks any more; a thread of its own looks after the store until it is well again.
"""

import logging
import threading
import time
from collections.abc import Callable

from runtime.metrics.registry import Counter

logger = logging.getLogger(__name__)

outages = Counter(
    "limiter_outages", "Times that a web worker found the store of the counters away."
)

PROBE_SECONDS = 1.0
LOG_SECONDS = 60.0


class Breaker:
    def __init__(self, is_well: Callable[[], bool]) -> None:
        self.is_open = False
        self._is_well = is_well
        self._lock = threading.Lock()
        self._logged_at = -LOG_SECONDS
        self._told = False

    def trip(self, error: Exception) -> None:
        with self._lock:
            if self.is_open:
                return
            self.is_open = True
        outages.add()
        self._log(type(error).__name__)
        threading.Thread(target=self._close_when_well, daemon=True).start()

    def _close_when_well(self) -> None:
        while self.is_open:
            time.sleep(PROBE_SECONDS)
            if self._answers():
                self.is_open = False
                self._log_recovery()
            else:
                self._log("still away")

    def _answers(self) -> bool:
        try:
            return self._is_well()
        # Whatever is wrong with it, it is not well.
        except Exception:
            return False

    def _log_recovery(self) -> None:
        """Once for each outage that was told."""
        if self._told:
            self._told = False
            logger.warning("The store of the counters answers again.")

    def _log(self, what: str) -> None:
        if time.monotonic() - self._logged_at >= LOG_SECONDS:
            self._logged_at = time.monotonic()
            self._told = True
            logger.error(
                "The store of the counters does not answer (%s): each worker counts requests for "
                "itself, with its share of the limits.",
                what,
            )
