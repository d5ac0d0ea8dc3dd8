"""What was found out about a server, kept for a moment: whoever asks again costs it nothing."""

import logging
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)


class HealthCheckCache:
    """One looks at a time, in a thread of their own. What takes longer to say that it is well than
    anybody wants to wait is not well."""

    def __init__(
        self,
        is_well: Callable[[], bool],
        *,
        patience: float,
        good_seconds: float,
        bad_seconds: float,
    ) -> None:
        self._is_well = is_well
        self._patience = patience
        self._good_seconds, self._bad_seconds = good_seconds, bad_seconds
        self._lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        self._found = False
        self._begun_at = self._looks_again_at = 0.0
        self._done = threading.Event()
        self._done.set()

    def look(self) -> None:
        """Unless somebody did a moment ago, or does so now. Waits for nothing."""
        with self._lock:
            if not self._done.is_set() or time.monotonic() < self._looks_again_at:
                return
            self._begun_at = time.monotonic()
            self._done.clear()
        threading.Thread(target=self._find_out, args=[self._done], daemon=True).start()

    def found(self) -> bool:
        """After a look."""
        return self.wait(self._begun_at + self._patience - time.monotonic()) and self._found

    def wait(self, seconds: float) -> bool:
        """Returns whether the look that is under way, if any, ended within that time."""
        return self._done.wait(max(0.0, seconds))

    def _find_out(self, done: threading.Event) -> None:
        found = False
        try:
            found = self._is_well()
        # Whatever is wrong with it, it is not well.
        except Exception as error:
            logger.debug("Not well", exc_info=error)
        finally:
            if done is self._done:
                self._found = found
                seconds = self._good_seconds if found else self._bad_seconds
                self._looks_again_at = self._begun_at + seconds
            done.set()
