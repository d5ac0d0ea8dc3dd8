from argparse import ArgumentParser

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from accounts.models import Account
from credits.services import InvalidAmount, grant
from runtime.management.base import DatabaseCommand
from runtime.unicode import validate_line


class Command(DatabaseCommand):
    help = "Grant credits to the first account that a user owns."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="email address of the account's owner")
        parser.add_argument("credits", type=int, help="number of credits")
        parser.add_argument("--reason", required=True, help="reason, shown to the customer")

    def handle(self, *, email: str, credits: int, reason: str, **_: object) -> None:
        reason = reason.strip()
        try:
            validate_line(reason)
        except ValidationError as error:
            raise CommandError(error.messages[0]) from error
        if not 1 <= len(reason) <= 200:
            raise CommandError("--reason must have 1 to 200 characters.")
        account = Account.objects.first_owned_by(email)
        if account is None:
            raise CommandError(f"{email} doesn't own an open account.")
        try:
            grant(account=account, amount=credits, reason=reason, actor=None)
        except InvalidAmount as error:
            raise CommandError(str(error)) from error
        balance = account.wallet.balance
        self.stdout.write(f"Granted {credits:,} credits. The balance is {balance:,}.")
