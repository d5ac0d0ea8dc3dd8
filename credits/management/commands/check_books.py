from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize

from accounts.models import Account
from credits.wallet.books import find_discrepancies
from runtime.management.base import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Check that balances, ledger, usage, orders, and invoices agree. Print each discrepancy, "
        "and exit with status 1 if there are any."
    )

    def handle(self, **_: object) -> None:
        discrepancies = list(find_discrepancies())
        for discrepancy in discrepancies:
            self.stdout.write(discrepancy)
        if count := len(discrepancies):
            raise CommandError(f"Found {count:,} discrepanc{pluralize(count, 'y,ies')}.")
        count = Account.objects.count()
        self.stdout.write(f"The books of {count:,} account{pluralize(count)} agree.")
