"""Two customers who have one of everything. Whatever the one does, nothing of the other, whose
things are all named after a harbour, changes or is seen."""

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
from accounts.services import note_confirmed, open_account
from apikeys.services import create_key
from credits.models import LedgerEntry, Order, Pack, Subscription, Wallet
from credits.orders import lifecycle
from credits.wallet.books import differences
from runtime.dates import to_microseconds
from tests.conftest import make_member, make_user, signed_in
from validation.models import LogEntry
from validation.request_log.writer import Caller
from validation.services import validate

HARBOUR = "arbour"
OURS = ("accounts", "apikeys", "credits", "validation")


@dataclass
class Customer:
    user: User
    account: Account
    # By the names they have in the URL table.
    ids: dict[str, Any] = field(default_factory=dict)


def customer(name: str, host: str) -> Customer:
    user = make_user(f"mira@{host}", name=f"Mira of {name}")
    account = open_account(user=user, name=name)
    note_confirmed(user=user)
    key, _ = create_key(account=account, name=f"{name} key", actor=user)
    make_member(account, Role.DEVELOPER, f"dev@{host}")
    invited = team.invite_member(account=account, email=f"new@{host}", role=Role.VIEWER, actor=user)
    for pays in (True, False):
        order = lifecycle.start_order(
            account=account,
            item=Pack.objects.earliest("credits"),
            buyer=lifecycle.Buyer(f"{name} Ltd"),
            actor=user,
        )
        if pays:
            lifecycle.fulfil_order(order=order)
    account.refresh_from_db()
    for email in ("no address", f"jane@{host}.example"):
        asker = Caller(account, key, f"req_{account.pk:020}")
        validate(asker=asker, email=email, idempotency_key=None)
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
    return Customer(user, account, {**ids, **of_the_catalogue()})


def of_the_catalogue() -> dict[str, Any]:
    return {"pack_id": Pack.objects.earliest("credits").public_id, "plan_code": "starter"}


def two_customers() -> tuple[Customer, Customer]:
    return customer("The Shop", "shop.example"), customer("Quiet Harbour", "harbour.example")


def cookie_of(user: User) -> str:
    return signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value


def browser(cookie: str) -> Client:
    client = Client(headers={"user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0"})
    if cookie:
        client.cookies[settings.SESSION_COOKIE_NAME] = cookie
    return client


class Look:
    """The same rows, looked at again and again: Django writes the statements once."""

    def __init__(self, *rows: QuerySet[Any, Any]) -> None:
        self._statements = [one.order_by("pk").query.sql_with_params() for one in rows]

    def __call__(self) -> list[list[tuple[Any, ...]]]:
        return [_fetch(*one) for one in self._statements]


def _fetch(statement: str, parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def all_of(account: Account) -> Look:
    """Every row of theirs."""
    people = User.objects.filter(memberships__account=account)
    emails = EmailAddress.objects.filter(user__memberships__account=account)
    models = [model for label in OURS for model in apps.get_app_config(label).get_models()]
    rows = [
        model._default_manager.filter(account=account).values_list()
        for model in models
        if any(one.name == "account" for one in model._meta.fields)
    ]
    accounts = Account.objects.filter(pk=account.pk)
    return Look(accounts.values_list(), people.values_list(), emails.values_list(), *rows)


def money_of(account: Account) -> Look:
    paid = Order.objects.filter(account=account, state__in=["paid", "refunded"])
    return Look(
        Wallet.objects.filter(account=account).values_list("balance", "debt"),
        LedgerEntry.objects.filter(account=account).values_list(),
        Subscription.objects.filter(account=account).values_list("plan"),
        paid.values_list("pk", "state", "refunded_cents"),
    )


def powers(*accounts: Account) -> Look:
    """What no form of a customer gives."""
    fields = ("pk", "is_staff", "is_superuser", "is_active", "password", "email", "groups")
    limits = ("pk", "requests_per_minute", "requests_per_minute_override", "suspended_at")
    ids = [account.pk for account in accounts]
    people = User.objects.filter(memberships__account__in=ids).values_list("pk", flat=True)
    return Look(
        User.objects.filter(pk__in=list(people)).values_list(*fields),
        User.objects.filter(is_staff=True).values_list("pk"),
        Account.objects.filter(pk__in=ids).values_list(*limits),
    )


def assert_books_agree() -> None:
    assert not list(differences())
