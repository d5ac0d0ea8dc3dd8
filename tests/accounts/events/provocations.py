"""Change each fact that is an event, by the service or API call that changes it in production."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import time_machine
from django.core.cache import cache
from django.utils import timezone

from accounts import services as accounts
from accounts import team
from accounts.engine import get_engine
from accounts.events import record_event
from accounts.events.declared import WEBHOOK_TEST
from accounts.models import Account, Event, User, WebhookEndpoint
from accounts.roles import Role
from apikeys import services as keys
from apikeys.actor import Actor
from apikeys.models import ApiKey
from credits import services as credits
from credits import usage_alerts
from credits.models import Order, Pack, Wallet
from credits.orders import refunds
from engine import as_pending
from lists import lifecycle
from lists.models import AddressList
from lists.processing.running import work_once
from lists.uploads.options import ListOptions
from lists.uploads.services import upload_list
from tests.conftest import make_user
from tests.credits.customers import pay, place_order, subscribe
from tests.lists.factory import make_list, make_started_list
from tests.support.api_client import ApiClient
from tests.validation.feedback.factory import make_feedback
from tests.validation.reports.usage_data import add_usage
from validation.feedback.services import answer_feedback
from validation.probes.assessment import Assessment
from validation.probes.settlement import finish, read_response, start_probe
from validation.validations import Caller, Validation

INVITED, ANSWER = "invited@shop.example", "They moved to jane@new.example."
# Invalid syntax costs a credit, without a lookup.
CHECKED = "jane..doe@customer.example"
ADDRESSES = ["Deliverable@sandbox.test", CHECKED]
LIST_NAME, METADATA = "Spring customers", {"campaign": "Spring sale"}
KEY_NAME, REASON = "Checkout server", "Sent by Olive"


@dataclass
class Shop:
    account: Account
    owner: User
    staff: User
    secret: str
    # Of further keys.
    secrets: list[str] = field(default_factory=list)

    def call(self, secret: str = "") -> None:
        response = ApiClient(secret or self.secret).validate(CHECKED)
        assert response.status_code == 200, response.content

    def set_balance(self, balance: int) -> None:
        Wallet.objects.filter(account=self.account).update(balance=balance)

    def create_key(self, **fields: Any) -> ApiKey:
        key, secret = keys.create_key(
            account=self.account, name=KEY_NAME, actor=self.owner, **fields
        )
        self.secrets.append(secret)
        return key

    def grant(self) -> None:
        credits.grant(account=self.account, amount=5_000, reason=REASON, actor=self.staff)

    def lift_suspension(self) -> None:
        accounts.lift_suspension(account=self.account, actor=self.staff)

    def place_order(self) -> Order:
        return place_order(self.account, Pack.objects.earliest("credits"))

    @property
    def actor(self) -> Actor:
        return Actor(self.account, user=self.owner)

    @property
    def list_fields(self) -> dict[str, Any]:
        return {"name": LIST_NAME, "metadata": METADATA}

    def start_list(self) -> AddressList:
        return make_started_list(self.account, ADDRESSES, **self.list_fields)

    def upload(self, content: bytes, **options: Any) -> None:
        options = {**self.list_fields, **options}
        upload_list(actor=self.actor, content=content, options=ListOptions(**options))
        work()


def work() -> None:
    while work_once():
        pass


def lower_credits(shop: Shop) -> None:
    shop.set_balance(11)
    shop.call()


def exhaust_credits(shop: Shop) -> None:
    shop.set_balance(1)
    shop.call()


def refund_order(shop: Shop) -> None:
    order = shop.place_order()
    pay(order)
    refunds.refund_order(order=order, cents=100, actor=shop.staff, reason=REASON)


def rotate_key(shop: Shop) -> None:
    key, grace = shop.create_key(), timedelta(hours=1)
    _, secret = keys.rotate_key(key=key, grace=grace, actor=shop.owner)
    shop.secrets.append(secret)


def announce_expiry(shop: Shop) -> None:
    shop.create_key(expires_at=timezone.now() + timedelta(days=3))
    keys.send_expiry_notices()


def expire_key(shop: Shop) -> None:
    shop.create_key(expires_at=timezone.now() + timedelta(seconds=1))
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        cache.clear()
        keys.record_expired_keys(is_stopping=bool)


def reach_credit_limit(shop: Shop) -> None:
    shop.set_balance(100)
    shop.create_key(credits_per_month=1)
    shop.call(shop.secrets[-1])


def complete_list(shop: Shop) -> None:
    shop.set_balance(100)
    shop.start_list()
    work()


def pause_list(shop: Shop) -> None:
    shop.set_balance(100)
    lifecycle.pause_list(address_list=shop.start_list(), actor=None)


def cancel_list(shop: Shop) -> None:
    ready = make_list(shop.account, ADDRESSES, **shop.list_fields)
    lifecycle.cancel_list(address_list=ready, actor=None)


def answer(shop: Shop) -> None:
    feedback = make_feedback(shop.account, CHECKED, user=shop.owner)
    answer_feedback(feedback=feedback, answer=ANSWER, actor=shop.staff)


def join(shop: Shop) -> None:
    invitation = team.invite_member(
        account=shop.account, email=INVITED, role=Role.DEVELOPER, actor=shop.owner
    )
    team.accept_invitation(invitation=invitation, user=make_user(INVITED, name="Ivy Invited"))


def remove(shop: Shop) -> None:
    member = shop.account.memberships.get(user__email=INVITED)
    team.remove_member(membership=member, actor=shop.owner)


def suspend(shop: Shop) -> None:
    accounts.suspend_account(account=shop.account, actor=shop.staff, reason=REASON)
    # Suspended accounts still have events.
    shop.grant()
    assert Event.objects.latest("pk").type == "credits.granted"


def use_more(shop: Shop) -> None:
    shop.lift_suspension()
    for age in range(8):
        add_usage(shop.account, timezone.now() - timedelta(days=age), 100 if age else 1_000)
    usage_alerts.alert_unusual_spend()


def send_test(shop: Shop) -> None:
    endpoint = WebhookEndpoint.objects.create(
        account=shop.account, url="https://hooks.shop.example/?token=hidden"
    )
    data = {"webhook": endpoint.public_id}
    record_event(shop.account, WEBHOOK_TEST, data, endpoint=endpoint)


def complete_check(shop: Shop) -> None:
    finding = get_engine().check_offline(CHECKED)
    caller = Caller(shop.account, None, "request")
    pending = as_pending(finding)
    validation = Validation(caller, CHECKED, pending, is_sandbox=False, duration_ms=1)
    probe, _ = start_probe(validation, Assessment(finding, "customer.example", "direct"))
    read_response(probe)
    finish(probe=probe, finding=finding)


PROVOCATIONS: dict[str, Callable[[Shop], object]] = {
    "credits.low": lower_credits,
    "credits.exhausted": exhaust_credits,
    "credits.granted": lambda shop: shop.grant(),
    "order.paid": lambda shop: pay(shop.place_order()),
    "order.refunded": refund_order,
    "plan.changed": lambda shop: subscribe(shop.account, "starter", str(timezone.now().date())),
    "key.created": lambda shop: shop.create_key(),
    "key.rotated": rotate_key,
    "key.revoked": lambda shop: keys.revoke_key(key=shop.create_key(), actor=shop.owner),
    "key.expiring": announce_expiry,
    "key.expired": expire_key,
    "key.credit_limit_reached": reach_credit_limit,
    "list.ready": lambda shop: shop.upload("\n".join(["email", *ADDRESSES]).encode()),
    "list.results_ready": complete_list,
    "list.completed": complete_list,
    "list.failed": lambda shop: shop.upload(b"email\n"),
    "list.paused": pause_list,
    "list.canceled": cancel_list,
    "check.completed": complete_check,
    "feedback.answered": answer,
    "member.joined": join,
    "member.removed": remove,
    "account.suspended": suspend,
    "account.reinstated": lambda shop: shop.lift_suspension(),
    "usage.unusual": use_more,
    "webhook.test": send_test,
}
