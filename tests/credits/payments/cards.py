"""What the tests of card payments share: our Stripe, and customers who pay there."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, User
from credits.models import Order, Pack, Plan, Subscription, Wallet
from credits.orders import lifecycle
from credits.payments import method_of
from tests.servers.stripe import SECRET_KEY, WEBHOOK_SECRET, FakeStripe, fake_stripe, sign

Plans = dict[str, Plan]
WEBHOOK = "/credits/stripe/"


@pytest.fixture(scope="module")
def running() -> Iterator[FakeStripe]:
    with fake_stripe() as stripe:
        yield stripe


@pytest.fixture
def stripe(running: FakeStripe, settings: Settings) -> Iterator[FakeStripe]:
    settings.STRIPE_SECRET_KEY = SECRET_KEY
    settings.STRIPE_WEBHOOK_SECRET = WEBHOOK_SECRET
    settings.STRIPE_API_URL = running.url
    running.cancelled.clear()
    running.expired.clear()
    running.refunds.clear()
    yield running
    running.is_down = False


def place(account: Account, item: Pack | Plan) -> Order:
    buyer = lifecycle.Buyer("The Shop Ltd")
    order = lifecycle.start_order(
        account=account, item=item, buyer=buyer, actor=User.objects.earliest("pk")
    )
    method_of(order).begin(order)
    return order


def tell(event: dict[str, Any], signature: str | None = None) -> int:
    payload = json.dumps(event).encode()
    given = sign(payload) if signature is None else signature
    headers = {"Stripe-Signature": given} if given else {}
    answer = Client(enforce_csrf_checks=True).post(
        WEBHOOK, payload, content_type="application/json", headers=headers
    )
    return answer.status_code


def buy(stripe: FakeStripe, account: Account, item: Pack | Plan) -> Order:
    order = place(account, item)
    assert tell(stripe.pay(stripe.session_of(order.public_id))) == 200
    order.refresh_from_db()
    return order


def subscribe(stripe: FakeStripe, account: Account, plan: Plan) -> str:
    """What Stripe calls the subscription."""
    buy(stripe, account, plan)
    return subscription_of(account).provider_subscription


def wallet_of(account: Account) -> tuple[int, int]:
    wallet = Wallet.objects.get(account=account)
    return wallet.balance, wallet.debt


def subscription_of(account: Account) -> Subscription:
    return Subscription.objects.select_related("plan", "next_plan").get(account=account)
