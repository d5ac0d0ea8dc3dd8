"""Two customers with one row of every kind.

Nothing that the first does may change or reveal data of the second, whose rows all contain the word
"harbour".
"""

import re
from dataclasses import dataclass, field
from typing import Any

from allauth.account.models import EmailAddress
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.test import Client

from accounts import team
from accounts.models import Account, User
from accounts.roles import Role
from accounts.services import open_account, run_email_confirmed_hooks
from apikeys.services import create_key
from credits.models import LedgerEntry, Order, Pack, Subscription, Wallet
from credits.orders import fulfillment, placement, quotes
from credits.orders.quotes import Buyer
from credits.wallet.books import find_discrepancies
from runtime.dates import to_microseconds
from tests.conftest import make_member, make_user, signed_in_by_form
from validation.models import LogEntry
from validation.services import validate
from validation.validations import Caller

# Without the first letter, because rows contain it in both cases. A time zone has such a name, too.
HARBOUR = re.compile("(?<!Coral[ _]H)arbour")
APP_LABELS = ("accounts", "apikeys", "credits", "validation", "lists")


@dataclass
class Customer:
    user: User
    account: Account
    # Keyed by URL parameter.
    ids: dict[str, Any] = field(default_factory=dict)


def create_customer(name: str, host: str) -> Customer:
    user = make_user(f"mira@{host}", name=f"Mira of {name}")
    account = open_account(user=user, name=name)
    run_email_confirmed_hooks(user=user)
    key, _ = create_key(account=account, name=f"{name} key", actor=user)
    make_member(account, Role.DEVELOPER, f"dev@{host}")
    invited = team.invite_member(account=account, email=f"new@{host}", role=Role.VIEWER, actor=user)
    for is_paid in (True, False):
        order = placement.place_order(
            quote=quotes.quote(account, Pack.objects.earliest("credits")),
            buyer=Buyer(f"{name} Ltd"),
            actor=user,
        )
        if is_paid:
            fulfillment.fulfill_order(order=order)
    account.refresh_from_db()
    for email in ("no address", f"jane@{host}.example"):
        caller = Caller(account, key, f"req_{account.pk:020}")
        validate(caller=caller, email=email, idempotency_key=None)
    entry = LogEntry.objects.filter(account=account).latest("pk")
    ids = {
        "key_id": key.public_id,
        "membership_id": account.memberships.exclude(user=user).get().public_id,
        "invitation_id": invited.public_id,
        "order_id": order.public_id,
        "request_id": entry.request_id,
        "moment": to_microseconds(entry.at),
        "public_id": account.public_id,
    }
    return Customer(user, account, {**ids, **catalog_ids()})


def catalog_ids() -> dict[str, Any]:
    return {"pack_id": Pack.objects.earliest("credits").public_id, "plan_code": "starter"}


def create_two_customers() -> tuple[Customer, Customer]:
    return create_customer("The Shop", "shop.example"), create_customer(
        "Quiet Harbour", "harbour.example"
    )


def sign_in_cookie(user: User) -> str:
    return signed_in_by_form(user).cookies[settings.SESSION_COOKIE_NAME].value


def make_browser(cookie: str) -> Client:
    client = Client(headers={"user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0"})
    if cookie:
        client.cookies[settings.SESSION_COOKIE_NAME] = cookie
    return client


class Snapshot:
    """Reads the same rows repeatedly. Django compiles the SQL statements only once."""

    def __init__(self, *querysets: QuerySet[Any, Any]) -> None:
        self._statements = [rows.order_by("pk").query.sql_with_params() for rows in querysets]

    def __call__(self) -> list[list[tuple[Any, ...]]]:
        return [_fetch(*statement) for statement in self._statements]


def _fetch(statement: str, parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def snapshot_rows(account: Account) -> Snapshot:
    """Cover every row of the account and its members."""
    people = User.objects.filter(memberships__account=account)
    emails = EmailAddress.objects.filter(user__memberships__account=account)
    models = [model for label in APP_LABELS for model in apps.get_app_config(label).get_models()]
    rows = [
        model._default_manager.filter(account=account).values_list()
        for model in models
        if any(column.name == "account" for column in model._meta.fields)
    ]
    accounts = Account.objects.filter(pk=account.pk)
    return Snapshot(accounts.values_list(), people.values_list(), emails.values_list(), *rows)


def snapshot_money(account: Account) -> Snapshot:
    paid = Order.objects.filter(account=account, state__in=["paid", "refunded"])
    return Snapshot(
        Wallet.objects.filter(account=account).values_list("balance", "held", "debt"),
        LedgerEntry.objects.filter(account=account).values_list(),
        Subscription.objects.filter(account=account).values_list("plan"),
        paid.values_list("pk", "state", "refunded_cents"),
    )


def snapshot_privileges(*accounts: Account) -> Snapshot:
    """Cover the fields that no customer form may change."""
    fields = ("pk", "is_staff", "is_superuser", "is_active", "password", "email", "groups")
    limits = ("pk", "requests_per_minute", "requests_per_minute_override", "suspended_at")
    ids = [account.pk for account in accounts]
    people = User.objects.filter(memberships__account__in=ids).values_list("pk", flat=True)
    return Snapshot(
        User.objects.filter(pk__in=list(people)).values_list(*fields),
        User.objects.filter(is_staff=True).values_list("pk"),
        Account.objects.filter(pk__in=ids).values_list(*limits),
    )


def assert_books_agree() -> None:
    assert not list(find_discrepancies())
