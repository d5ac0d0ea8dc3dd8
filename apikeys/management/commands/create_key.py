from argparse import ArgumentParser

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email

from accounts.models import Account
from accounts.names import validate_name
from apikeys.models import KeyChangeRefused
from apikeys.scopes import SCOPES
from apikeys.services import create_key
from runtime.management.base import DatabaseCommand


class Command(DatabaseCommand):
    help = "Create an API key for the first account that a user owns, and print only the key."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="email address of the account's owner")
        parser.add_argument("--name", required=True, help="what uses the key, 1 to 50 characters")
        parser.add_argument(
            "--scopes", help=f"of {', '.join(SCOPES)}, with commas (default: full access)"
        )

    def handle(self, *, email: str, name: str, scopes: str | None, **_: object) -> None:
        name = name.strip()
        try:
            validate_email(email)
            validate_name(name)
        except ValidationError as error:
            raise CommandError(error.messages[0]) from error
        if not 1 <= len(name) <= 50:
            raise CommandError("--name must have 1 to 50 characters.")
        chosen = None if scopes is None else [*dict.fromkeys(map(str.strip, scopes.split(",")))]
        if chosen is not None and not set(chosen) <= set(SCOPES):
            raise CommandError(f"--scopes must be one or more of {', '.join(SCOPES)}, with commas.")
        account = Account.objects.first_owned_by(email)
        if account is None:
            raise CommandError(f"{email} doesn't own an open account.")
        try:
            secret = create_key(account=account, name=name, scopes=chosen, actor=None)[1]
        except KeyChangeRefused as error:
            raise CommandError(str(error)) from error
        self.stdout.write(secret)
