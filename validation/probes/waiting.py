"""Wait for the results of mailbox checks, for callers that would rather wait than poll."""

import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from accounts.models import Account
from runtime.database.pool import release_connection
from runtime.http.load_shedding import concurrency_limit
from validation.models import Probe

# The limits in each web worker. Beyond them, a result is pending from the start.
MAX_WAITING, MAX_WAITING_PER_ACCOUNT = 100, 20
_FIRST_INTERVAL, _MAX_INTERVAL = 0.05, 0.5

_waiting: Counter[int] = Counter()


def wait_for_answers(account: Account, probes: Sequence[Probe], ends_at: float) -> None:
    """Return when the checks are done, or when those that aren't can't be done in time."""
    is_full = _waiting.total() >= MAX_WAITING or _waiting[account.pk] >= MAX_WAITING_PER_ACCOUNT
    if not probes or is_full:
        return
    _waiting[account.pk] += 1
    try:
        # Hold no request slot while waiting, and no connection between reads.
        concurrency_limit.leave()
        interval = _FIRST_INTERVAL
        while (seconds_left := ends_at - time.monotonic()) > 0:
            release_connection()
            time.sleep(min(interval, seconds_left))
            interval = min(interval * 1.5, _MAX_INTERVAL)
            soon = timezone.now() + timedelta(seconds=ends_at - time.monotonic())
            waiting = Probe.objects.waiting().filter(next_attempt_at__lt=soon)
            if not waiting.filter(pk__in=[probe.pk for probe in probes]).exists():
                return
    finally:
        _waiting[account.pk] -= 1
        if not _waiting[account.pk]:
            del _waiting[account.pk]
