"""The work of a day, done once by whichever background worker holds the lease."""

import logging
import time
from datetime import date

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from runtime.jobs.leases import Lease
from runtime.metrics.registry import Counter, Gauge

logger = logging.getLogger(__name__)

NAME = "daily"
LEASE_SECONDS = 3600
RETRY_SECONDS = 900

ran_at = Gauge(
    "daily_job_run_timestamp_seconds",
    "When each job of the day last ended, as a Unix time.",
    ("job",),
    mode="mostrecent",
)
took = Gauge(
    "daily_job_duration_seconds",
    "How long each job of the day took the last time.",
    ("job",),
    mode="mostrecent",
)
failures = Counter("daily_job_failures", "Jobs of the day that failed.", ("job",))


class DailyWorkError(Exception):
    """Names the jobs that failed; the others are done."""


def run_daily() -> None:
    """Every job, each in its own right: one that fails does not keep the others from running."""
    failed = []
    for path in settings.ON_EVERY_DAY:
        started = time.monotonic()
        try:
            import_string(path)()
        except Exception:
            logger.exception("The daily job %s failed", path)
            failed.append(path)
            failures.add(path)
        took.set(time.monotonic() - started, path)
        ran_at.set(time.time(), path)
    if failed:
        raise DailyWorkError(f"These daily jobs failed: {', '.join(failed)}")


def run_daily_if_due(holder: str) -> bool:
    """True when this worker did the day's work. After a failure it rests before the next try."""
    today = timezone.now().date()
    if not _take_the_day(holder, today):
        return False
    try:
        run_daily()
    except DailyWorkError:
        Lease.objects.rest(NAME, holder, seconds=RETRY_SECONDS)
        return False
    Lease.objects.finish(NAME, holder, day=today)
    return True


@transaction.atomic
def _take_the_day(holder: str, today: date) -> bool:
    """Asked again once the lease is held: another worker may just have finished."""
    if Lease.objects.is_done_for(NAME, today):
        return False
    taken = Lease.objects.take(NAME, holder, seconds=LEASE_SECONDS)
    return taken and not Lease.objects.is_done_for(NAME, today)
