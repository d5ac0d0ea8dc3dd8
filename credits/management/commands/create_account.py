import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email
from django.db import transaction

from accounts.models import User
from accounts.services import create_confirmed_user, note_confirmed, open_account
from credits.models.catalogue import MOST_CREDITS
from credits.services import open_with_credits
from runtime.management.base import DatabaseCommand

MOST_REQUESTS = 1_000_000


class Command(DatabaseCommand):
    help = "Creates a user with an account of their own. Prints the e-mail and a random password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="counts as confirmed")
        parser.add_argument(
            "--credits", type=int, help="the exact opening balance, in place of sign-up credits"
        )
        parser.add_argument("--requests-per-minute", type=int, help="a limit of the account's own")
        parser.add_argument("--staff", action="store_true", help="may enter the admin")

    @transaction.atomic
    def handle(
        self,
        *,
        email: str,
        credits: int | None,
        requests_per_minute: int | None,
        staff: bool,
        **_: Any,
    ) -> None:
        try:
            validate_email(email)
        except ValidationError as error:
            raise CommandError(f"{email!r} is not an e-mail address.") from error
        if requests_per_minute is not None and not 1 <= requests_per_minute <= MOST_REQUESTS:
            raise CommandError(f"--requests-per-minute must be 1 to {MOST_REQUESTS:,}.")
        if credits is not None and not 0 <= credits <= MOST_CREDITS:
            raise CommandError(f"--credits must be 0 to {MOST_CREDITS:,}.")
        if User.objects.filter(email=email.lower()).exists():
            raise CommandError(f"{email} has an account already.")
        password = secrets.token_urlsafe(12)
        user = create_confirmed_user(email=email, password=password, staff=staff)
        account = open_account(user=user)
        if credits is None:
            note_confirmed(user=user, by_operator=True)
        else:
            open_with_credits(account=account, credits=credits)
        if requests_per_minute:
            account.requests_per_minute_override = requests_per_minute
            account.save(update_fields=["requests_per_minute_override"])
        self.stdout.write(f"{user.email} {password}")
