"""The domains that staff listed, as each worker knows them: no older than a few seconds."""

import logging
import threading
import time

from django.db import Error

from validation.engine.domain_data import NO_STAFF_DOMAINS, StaffDomains
from validation.models import ListedDomain

logger = logging.getLogger(__name__)

KNOWN_FOR_SECONDS = 3.0


class _Reader:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._domains = NO_STAFF_DOMAINS
        self._read_at = float("-inf")

    def current(self) -> StaffDomains:
        """The same object as long as nothing changed: by that the engine knows."""
        if time.monotonic() - self._read_at < KNOWN_FOR_SECONDS:
            return self._domains
        # While one reads, the others go on with what is known.
        if self._lock.acquire(blocking=False):
            try:
                self._read_at = time.monotonic()
                self._read()
            finally:
                self._lock.release()
        return self._domains

    def forget(self) -> None:
        self._read_at = float("-inf")

    def _read(self) -> None:
        try:
            listed = ListedDomain.objects.as_staff_domains()
        except Error as error:
            logger.warning("The domains that staff listed could not be read", exc_info=error)
            return
        if listed != self._domains:
            self._domains = listed


_reader = _Reader()
# Seam STAFF_DOMAINS: the sign-up form two floors below asks as well.
current, forget = _reader.current, _reader.forget
