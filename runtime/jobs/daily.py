"""Run the daily jobs once per day, in the background worker that holds the lease."""

import logging
import time
from datetime import date
from typing import Protocol

from django.db import transaction
from django.utils import timezone

from runtime.hooks import Hook
from runtime.jobs.leases import Lease
from runtime.metrics.client import Counter, Gauge

logger = logging.getLogger(__name__)

LEASE_NAME = "daily"
LEASE_SECONDS = 3600
RETRY_SECONDS = 900

ran_at = Gauge(
    "emailvalidation_daily_job_run_timestamp_seconds",
    "When each daily job last ended, as a Unix timestamp.",
    ("name",),
    multiprocess_mode="mostrecent",
)
durations = Gauge(
    "emailvalidation_daily_job_duration_seconds",
    "Duration of the last run of each daily job.",
    ("name",),
    multiprocess_mode="mostrecent",
)
failures = Counter("emailvalidation_daily_job_failures", "Failed runs of daily jobs.", ("name",))


class DailyJob(Protocol):
    def __call__(self) -> None:
        """Do the work of a day. Safe to repeat."""


on_every_day = Hook[DailyJob]("ON_EVERY_DAY")


class DailyJobsFailed(Exception):
    """Lists the jobs that failed; the others succeeded."""


def run_daily() -> None:
    """Run every job, including those after one that fails."""
    failed = []
    for path in on_every_day.paths:
        # The metrics' label is the function's name, which stays the same when its module moves.
        # It isn't called `job`: Prometheus gives that name to the scrape job.
        name = path.rpartition(".")[2]
        started = time.monotonic()
        try:
            on_every_day.load(path)()
        except Exception:
            logger.exception("Daily job %s failed", path)
            failed.append(path)
            failures.labels(name).inc()
        durations.labels(name).set(time.monotonic() - started)
        ran_at.labels(name).set_to_current_time()
    if failed:
        raise DailyJobsFailed(f"These daily jobs failed: {', '.join(failed)}")


def run_daily_if_due(holder: str) -> bool:
    """Return True if this worker ran the day's jobs.

    After a failure, no worker retries before RETRY_SECONDS have passed.
    """
    today = timezone.now().date()
    if not _acquire_lease(holder, today):
        return False
    try:
        run_daily()
    except DailyJobsFailed:
        Lease.objects.back_off(LEASE_NAME, holder, seconds=RETRY_SECONDS)
        return False
    Lease.objects.complete(LEASE_NAME, holder, day=today)
    return True


@transaction.atomic
def _acquire_lease(holder: str, today: date) -> bool:
    """Acquire the lease, unless the day is done.

    The day is checked again under the lease, because another worker may have finished it since the
    first check.
    """
    if Lease.objects.is_done_for(LEASE_NAME, today):
        return False
    is_acquired = Lease.objects.acquire(LEASE_NAME, holder, seconds=LEASE_SECONDS)
    return is_acquired and not Lease.objects.is_done_for(LEASE_NAME, today)
