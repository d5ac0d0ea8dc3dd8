"""The work of a day, done once by whichever background worker holds the lease."""

import logging

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.models import Lease

logger = logging.getLogger(__name__)

NAME = "daily"
LEASE_SECONDS = 3600


class DailyWorkError(Exception):
    """Names the jobs that failed; the others are done."""


def run_daily() -> None:
    """Every job, each in its own right: one that fails does not keep the others from running."""
    failed = []
    for path in settings.ON_EVERY_DAY:
        try:
            import_string(path)()
        except Exception:
            logger.exception("The daily job %s failed", path)
            failed.append(path)
    if failed:
        raise DailyWorkError(f"These daily jobs failed: {', '.join(failed)}")


def run_daily_if_due(holder: str) -> bool:
    """True when this worker did the day's work. What failed is tried again after the lease."""
    today = timezone.now().date()
    if Lease.objects.is_done_for(NAME, today):
        return False
    with transaction.atomic():
        if not Lease.objects.take(NAME, holder, seconds=LEASE_SECONDS):
            return False
    try:
        run_daily()
    except DailyWorkError:
        return False
    Lease.objects.leave(NAME, holder, done_for=today)
    return True
