from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.schedule import DailyWorkError, run_daily


class Command(BaseCommand):
    help = "Does the work of a day. Safe to run any number of times and to miss days."

    def handle(self, **_: Any) -> None:
        try:
            run_daily()
        except DailyWorkError as error:
            raise CommandError(str(error)) from error
