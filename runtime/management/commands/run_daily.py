from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from runtime.jobs.daily import NAME, DailyWorkError, run_daily
from runtime.jobs.leases import Lease
from runtime.management.base import DatabaseCommand


class Command(DatabaseCommand):
    help = "Does the work of a day. Safe to run any number of times and to miss days."

    def handle(self, **_: Any) -> None:
        today = timezone.now().date()
        try:
            run_daily()
        except DailyWorkError as error:
            raise CommandError(str(error)) from error
        # So that the admin tells the truth where a timer runs this, and no worker does it again.
        Lease.objects.note_done(NAME, day=today)
