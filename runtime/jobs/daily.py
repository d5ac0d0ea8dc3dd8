import logging
import time
from typing import Protocol

from django.utils import timezone

from runtime.hooks import Hook
from runtime.jobs.leases import Lease
from runtime.metrics.client import Counter, LatestGauge

logger = logging.getLogger(__name__)

LEASE_NAME = "daily"
LEASE_SECONDS = 3600
RETRY_SECONDS = 900

ran_at = LatestGauge(
    "emailvalidation_daily_job_run_timestamp_seconds",
    "When each daily job last ended, as a Unix timestamp.",
    ("name",),
)
durations = LatestGauge(
    "emailvalidation_daily_job_duration_seconds",
    "Duration of the last run of each daily job.",
    ("name",),
)
failures = Counter("emailvalidation_daily_job_failures", "Failed runs of daily jobs.", ("name",))


class DailyJob(Protocol):
    def __call__(self) -> None:
        """Do a day's work. It may be repeated."""


on_every_day = Hook[DailyJob]("ON_EVERY_DAY")


class DailyJobsFailed(Exception):
    """Raised after all jobs have run, if some failed."""


def run_daily() -> None:
    failed = []
    for path in on_every_day.paths:
        # `job` is Prometheus's own label.
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
    logger.info(
        "%s of %s daily jobs done", len(on_every_day.paths) - len(failed), len(on_every_day.paths)
    )
    if failed:
        raise DailyJobsFailed(f"These daily jobs failed: {', '.join(failed)}")


def run_daily_if_due(holder: str) -> bool:
    today, leases = timezone.now().date(), Lease.objects
    if not leases.acquire(LEASE_NAME, holder, day=today, seconds=LEASE_SECONDS):
        return False
    try:
        run_daily()
    except DailyJobsFailed:
        leases.back_off(LEASE_NAME, holder, seconds=RETRY_SECONDS)
        return False
    leases.complete(LEASE_NAME, holder, day=today)
    return True
