from django.core.management.base import CommandError
from django.utils import timezone

from runtime.management.base import ProductCommand
from validation.domain_data.updates import InvalidUpdate, find_updates


class Command(ProductCommand):
    help = "Updates the engine's domain data from the installed packages, if the new data is valid."

    def handle(self, **_: object) -> None:
        try:
            updates = find_updates()
        except InvalidUpdate as error:
            raise CommandError(f"{error} No file was changed.") from error
        for update in updates:
            update.write(timezone.now().date())
            self.stdout.write(
                f"{update.name}: {len(update.entries):,} entries from version {update.version}."
            )
        if not updates:
            self.stdout.write("The domain data already matches the installed packages.")
        else:
            self.stdout.write("Restart the web workers to use the new data.")
