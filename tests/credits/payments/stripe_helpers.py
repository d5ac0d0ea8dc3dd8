"""Fixtures and helpers for tests of card payments: a fake Stripe, and customers who pay there."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from stripe import HTTPClient

from accounts.models import Account
from credits.models import Order, Pack, Plan, Subscription
from credits.payments.stripe.checkout import Stripe
from tests.credits import customers
from tests.servers.stripe import SECRET_KEY, WEBHOOK_SECRET, FakeStripe, fake_stripe, sign

PlansByCode = dict[str, Plan]
WEBHOOK = "/credits/stripe/"


@pytest.fixture(scope="module")
def running() -> Iterator[FakeStripe]:
    with fake_stripe() as stripe:
        yield stripe


@pytest.fixture
def stripe(
    running: FakeStripe, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeStripe]:
    # The library sleeps before it repeats a request.
    monkeypatch.setattr(HTTPClient, "INITIAL_DELAY", 0.01)
    settings.STRIPE_SECRET_KEY = SECRET_KEY
    settings.STRIPE_WEBHOOK_SECRET = WEBHOOK_SECRET
    settings.STRIPE_API_URL = settings.STRIPE_CHECKOUT_URL = running.url
    running.cancelled.clear()
    running.expired.clear()
    running.refunds.clear()
    running.reset_cards()
    yield running
    running.is_down = False


def place_order(account: Account, item: Pack | Plan) -> Order:
    order = customers.place_order(account, item)
    Stripe().begin(order)
    return order


def send_event(event: dict[str, Any], signature: str | None = None) -> int:
    payload = json.dumps(event).encode()
    header = sign(payload) if signature is None else signature
    headers = {"Stripe-Signature": header} if header else {}
    response = Client(enforce_csrf_checks=True).post(
        WEBHOOK, payload, content_type="application/json", headers=headers
    )
    return response.status_code


def buy(stripe: FakeStripe, account: Account, item: Pack | Plan) -> Order:
    order = place_order(account, item)
    assert send_event(stripe.pay(stripe.find_session(order.public_id))) == 200
    order.refresh_from_db()
    return order


def subscribe(stripe: FakeStripe, account: Account, plan: Plan) -> str:
    """Buy a plan, and return the id of its subscription at Stripe."""
    buy(stripe, account, plan)
    return get_subscription(account).provider_subscription


def get_subscription(account: Account) -> Subscription:
    return Subscription.objects.select_related("plan", "next_plan").get(account=account)
