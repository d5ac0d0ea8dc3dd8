import secrets
from argparse import ArgumentParser

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email
from django.db import transaction

from accounts.models import User
from accounts.services import create_confirmed_user, open_account, run_email_confirmed_hooks
from credits.models.catalog import MAX_CREDITS
from credits.services import set_opening_balance
from runtime.management.base import DatabaseCommand

MAX_REQUESTS_PER_MINUTE = 1_000_000


class Command(DatabaseCommand):
    help = "Create a user with an account, and print the email address and a random password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="email address, treated as confirmed")
        parser.add_argument(
            "--credits", type=int, help="exact opening balance, in place of the sign-up credits"
        )
        parser.add_argument(
            "--requests-per-minute",
            type=int,
            help="rate limit of the account, in place of its plan's",
        )
        parser.add_argument("--staff", action="store_true", help="give access to the admin")

    @transaction.atomic
    def handle(
        self,
        *,
        email: str,
        credits: int | None,
        requests_per_minute: int | None,
        staff: bool,
        **_: object,
    ) -> None:
        try:
            validate_email(email)
        except ValidationError as error:
            raise CommandError(f"{email!r} is not a valid email address.") from error
        if (
            requests_per_minute is not None
            and not 1 <= requests_per_minute <= MAX_REQUESTS_PER_MINUTE
        ):
            raise CommandError(f"--requests-per-minute must be 1 to {MAX_REQUESTS_PER_MINUTE:,}.")
        if credits is not None and not 0 <= credits <= MAX_CREDITS:
            raise CommandError(f"--credits must be 0 to {MAX_CREDITS:,}.")
        if User.objects.filter(email=email.lower()).exists():
            raise CommandError(f"{email} already has an account.")
        password = secrets.token_urlsafe(12)
        user = create_confirmed_user(email=email, password=password, staff=staff)
        account = open_account(user=user)
        if credits is None:
            run_email_confirmed_hooks(user=user, by_operator=True)
        else:
            set_opening_balance(account=account, credits=credits)
        if requests_per_minute:
            account.requests_per_minute_override = requests_per_minute
            account.save(update_fields=["requests_per_minute_override"])
        self.stdout.write(f"{user.email} {password}")
