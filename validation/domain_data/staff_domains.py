"""Cache the staff domains in each worker for a few seconds."""

import logging
import time

from django.db import Error

from engine import NO_STAFF_DOMAINS, StaffDomains
from validation.models import ListedDomain

logger = logging.getLogger(__name__)

MAX_AGE_SECONDS = 3.0


class _Reader:
    def __init__(self) -> None:
        self._domains = NO_STAFF_DOMAINS
        self._read_at = float("-inf")

    def current(self) -> StaffDomains:
        """Return the same object until the domains change, which the engine checks by identity."""
        if time.monotonic() - self._read_at < MAX_AGE_SECONDS:
            return self._domains
        # Before the query, so that others use the cached domains until it ends.
        self._read_at = time.monotonic()
        try:
            domains = ListedDomain.objects.as_staff_domains()
            if domains != self._domains:
                self._domains = domains
        except Error as error:
            logger.warning("Reading the staff domains failed", exc_info=error)
        return self._domains

    def invalidate(self) -> None:
        self._read_at = float("-inf")


_reader = _Reader()
# Hook STAFF_DOMAINS: the sign-up form in `accounts` uses them too.
current, invalidate = _reader.current, _reader.invalidate
