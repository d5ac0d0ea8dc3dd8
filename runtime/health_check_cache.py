import logging
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)


class HealthCheckCache:
    """Run a check in a thread and cache its result. After `timeout` seconds it is unhealthy."""

    def __init__(
        self, check: Callable[[], bool], *, timeout: float, healthy_ttl: float, unhealthy_ttl: float
    ) -> None:
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
        with self._lock:
            if not self._done.is_set() or time.monotonic() < self._next_check_at:
                return
            self._started_at = time.monotonic()
            self._done.clear()
        threading.Thread(target=self._run, args=[self._done], daemon=True).start()

    def is_healthy(self) -> bool:
        return self.wait(self._started_at + self._timeout - time.monotonic()) and self._result

    def wait(self, seconds: float) -> bool:
        return self._done.wait(max(0.0, seconds))

    def _run(self, done: threading.Event) -> None:
        result = False
        try:
            result = self._check()
        except Exception as error:
            logger.debug("Health check failed", exc_info=error)
        finally:
            # After a reset, an earlier check doesn't count.
            if done is self._done:
                self._result = result
                seconds = self._healthy_ttl if result else self._unhealthy_ttl
                self._next_check_at = self._started_at + seconds
            done.set()
