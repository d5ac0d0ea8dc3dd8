"""Where each act is tried: a customer, their browser, a colleague of the staff, and what was noted
of the last form that was sent."""

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
from credits.orders.lifecycle import Buyer, start_order
from tests.conftest import make_user, signed_in
from tests.servers.stripe import FakeStripe

TOKEN = "a" * 32


@dataclass
class World:
    account: Account
    owner: User
    stripe: FakeStripe | None = None
    # The newest entry before the form was sent.
    before: int = 0

    @cached_property
    def browser(self) -> Client:
        return signed_in(self.owner)

    @cached_property
    def staff(self) -> User:
        return make_user("staff@service.example", is_staff=True, is_superuser=True)

    @cached_property
    def boss(self) -> Client:
        return signed_in(self.staff)

    @cached_property
    def key(self) -> ApiKey:
        return create_key(account=self.account, name="Server", actor=self.owner)[0]

    @cached_property
    def order(self) -> Order:
        item = Pack.objects.earliest("credits")
        buyer = Buyer("The Shop Ltd")
        return start_order(account=self.account, item=item, buyer=buyer, actor=self.owner)

    def send(self, client: Client, page: str, *args: Any, **form: Any) -> Any:
        return self.send_to(client, reverse(page, args=args), form)

    def send_to(self, client: Client, path: str, form: Any, **more: Any) -> Any:
        """The act itself: what was noted before belongs to the ways to it."""
        self.before = AuditEntry.objects.order_by("pk").values_list("pk", flat=True).last() or 0
        with TestCase.captureOnCommitCallbacks(execute=True):
            answer = client.post(path, form, **more)
        assert answer.status_code in {200, 302}, answer.content.decode()
        return answer

    def noted(self, action: str) -> list[AuditEntry]:
        return list(AuditEntry.objects.filter(pk__gt=self.before, action=action).order_by("pk"))


@dataclass(frozen=True)
class Act:
    """A form of a page, and what the audit log says when it was sent successfully."""

    page: str
    action: str
    perform: Callable[[World], Any]
    # Who stands in the entry: owner, staff, newcomer, or nobody who is known.
    by: str = "owner"
    # Of an admin's list.
    button: str = ""
    # It stands in the customer's log; what staff do to no account stands in none.
    is_of_account: bool = True

    def __str__(self) -> str:
        return f"{self.page}{'/' if self.button else ''}{self.button}-{self.action}"
