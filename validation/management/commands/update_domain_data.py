from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from validation.domain_data.updates import BrokenList, checked_updates


class Command(BaseCommand):
    help = "Renews the engine's lists from the installed packages, unless a new one is broken."

    def handle(self, **_: Any) -> None:
        try:
            updates = checked_updates()
        except BrokenList as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        for update in updates:
            update.write(timezone.now().date())
            self.stdout.write(
                f"{update.name}: {len(update.entries):,} entries of {update.version}."
            )
        if not updates:
            self.stdout.write("The lists are those of the installed packages already.")
        else:
            self.stdout.write("Restart the web workers to use them.")
