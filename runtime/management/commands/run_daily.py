from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from runtime.jobs.daily import LEASE_NAME, DailyJobsFailed, run_daily
from runtime.jobs.leases import Lease
from runtime.management.base import DatabaseCommand


class Command(DatabaseCommand):
    help = "Runs the daily jobs. Safe to run repeatedly, and to miss days."

    def handle(self, **_: Any) -> None:
        today = timezone.now().date()
        try:
            run_daily()
        except DailyJobsFailed as error:
            raise CommandError(str(error)) from error
        # Otherwise a worker would repeat the day's jobs.
        Lease.objects.update_or_create(name=LEASE_NAME, defaults={"done_for": today})
