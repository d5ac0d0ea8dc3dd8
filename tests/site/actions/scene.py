"""The setting in which each action is tested: a customer, a staff member and their browsers.

It also returns the audit log entries that the last form wrote.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.test import Client, TestCase
from django.urls import reverse

from accounts.models import Account, AuditEntry, User
from apikeys.models import ApiKey
from apikeys.services import create_key
from credits.models import Order, Pack
from tests.conftest import make_user, signed_in
from tests.credits.customers import place_order
from tests.servers.stripe import FakeStripe
from tests.support.pages import record_authentication
from tests.support.request_address import request_from
from tests.support.staff_forms import post_confirmed

TOKEN = "a" * 32
ADDRESS = "127.0.0.1"


@dataclass
class Scene:
    account: Account
    owner: User
    stripe: FakeStripe | None = None
    # The id of the newest audit log entry before the last form was sent.
    last_entry_id: int = 0

    @cached_property
    def browser(self) -> Client:
        return _just_signed_in(self.owner)

    @cached_property
    def staff(self) -> User:
        return make_user("staff@service.example", is_staff=True, is_superuser=True)

    @cached_property
    def staff_browser(self) -> Client:
        return _just_signed_in(self.staff)

    @cached_property
    def key(self) -> ApiKey:
        return create_key(account=self.account, name="Server", actor=self.owner)[0]

    @cached_property
    def order(self) -> Order:
        return place_order(self.account, Pack.objects.earliest("credits"))

    def send(self, client: Client, page: str, *args: Any, **form: Any) -> Any:
        return self.send_to(client, reverse(page, args=args), form)

    def send_to(self, client: Client, path: str, form: Any, **extra: Any) -> Any:
        """Send the form that performs the action. Entries written before it don't count."""
        self._forget_entries()
        # The callbacks of a commit run in the request, but here after it.
        with request_from(ADDRESS), TestCase.captureOnCommitCallbacks(execute=True):
            response = post_confirmed(client, path, form, **extra)
        assert response.status_code in {200, 302}, response.content.decode()
        return response

    def open(self, client: Client, page: str, *args: Any, **query: Any) -> Any:
        """Open a page that is recorded when it's opened, such as a download."""
        self._forget_entries()
        response = client.get(reverse(page, args=args), query)
        assert response.status_code == 200
        return response

    def _forget_entries(self) -> None:
        entries = AuditEntry.objects.order_by("pk")
        self.last_entry_id = entries.values_list("pk", flat=True).last() or 0

    def new_entries(self, action: str) -> list[AuditEntry]:
        return list(
            AuditEntry.objects.filter(pk__gt=self.last_entry_id, action=action).order_by("pk")
        )


def _just_signed_in(user: User) -> Client:
    client = signed_in(user)
    record_authentication(client, user, method="password", email=user.email)
    return client


@dataclass(frozen=True)
class ActionCase:
    """A form on a page, and the audit log entry that sending it writes."""

    page: str
    action: str
    perform: Callable[[Scene], Any]
    # The actor in the entry: owner, staff, new user or anonymous.
    actor: str = "owner"
    # The admin action to run on the change list.
    button: str = ""
    # Whether the entry belongs to the customer's account; some staff actions concern none.
    is_of_account: bool = True

    def __str__(self) -> str:
        return f"{self.page}{'/' if self.button else ''}{self.button}-{self.action}"
