from typing import Any

from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize

from accounts.models import Account
from credits.wallet.books import differences
from runtime.management.base import DatabaseCommand


class Command(DatabaseCommand):
    help = "Verifies both books of every account. Exit status 1, and a line for each that differs."

    def handle(self, **_: Any) -> None:
        found = list(differences())
        for line in found:
            self.stdout.write(line)
        if found:
            raise CommandError(f"The books differ: {len(found)} line{pluralize(found)}.")
        count = Account.objects.count()
        self.stdout.write(f"The books of {count:,} account{pluralize(count)} agree.")
