"""Stripe Checkout, the part that asks: the customer pays at Stripe's, and no card comes near us.

Packs and upgrades are paid once; a plan is a subscription there, which renews by itself. What
Stripe tells us stands in stripe_events.py.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

import stripe
from django.conf import settings

from accounts.emails import link
from accounts.models import Account
from credits.models import Order, ProviderCancellation, Subscription
from credits.payments import PaymentUnavailable
from credits.plans import offers

logger = logging.getLogger(__name__)

Kind = Order.Kind
TIMEOUT_SECONDS = 10
# What a Checkout page changes of an order.
PAGE = ("state", "provider_session", "provider_url")


def asks_stripe(ask: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(ask)
    def asked(*args: Any, **kwargs: Any) -> Any:
        try:
            return ask(*args, **kwargs)
        except stripe.StripeError as error:
            # Its text may name what is not for everybody; its type and request id are enough.
            logger.warning("Stripe: %s %s", type(error).__name__, error.request_id)
            raise PaymentUnavailable(
                "The payment service does not answer as it should. Nothing was charged. Try again "
                "in a minute."
            ) from None

    return asked


class Stripe:
    @asks_stripe
    def begin(self, order: Order) -> None:
        """Opens a Checkout page for the order, unless it has one: two could both be paid."""
        order.refresh_from_db(fields=PAGE)
        before = order.provider_session
        if not order.is_pending or (before and _is_in_use(before)):
            return
        session = _client().v1.checkout.sessions.create(_session_for(order))
        # No lock is held while Stripe is asked. Of parallel requests the first one stores its page;
        # the others close theirs, whose address was never shown.
        waiting = Order.objects.pending().filter(pk=order.pk, provider_session=before)
        if not waiting.update(provider_session=session.id, provider_url=session.url or ""):
            with suppress(stripe.StripeError):
                _expire(session.id)
        order.refresh_from_db(fields=PAGE)

    @asks_stripe
    def withdraw(self, order: Order) -> None:
        # Another request may have opened the page after this one read the order.
        order.refresh_from_db(fields=PAGE)
        if order.provider_session:
            # It may be paid or expired already.
            with suppress(stripe.InvalidRequestError):
                _expire(order.provider_session)

    @asks_stripe
    def refund(self, order: Order) -> None:
        payment = order.provider_payment
        if order.provider_invoice:
            payment = payment or _payment_of_invoice(order.provider_invoice)
        if not payment:
            # Marked paid by hand: it came another way, and goes back that way.
            return
        left = order.total_cents - order.refunded_cents
        _client().v1.refunds.create(
            {"payment_intent": payment, "amount": left},
            {"idempotency_key": f"refund-{order.public_id}-{order.refunded_cents}"},
        )


@asks_stripe
def sync_with_stripe(account: Account) -> None:
    """Ends what is to end there, and lets what goes on cost what the wanted plan costs."""
    for ending in ProviderCancellation.objects.filter(account=account):
        # It may be over there already.
        with suppress(stripe.InvalidRequestError):
            _client().v1.subscriptions.cancel(ending.provider_subscription)
        ending.delete()
    subscription = Subscription.objects.select_related("next_plan").get(account=account)
    if subscription.renews_itself:
        _follow_plan(subscription)


@asks_stripe
def invoice_of_payment(payment: str) -> str:
    """The charge of a subscription does not say it."""
    found = _client().v1.invoice_payments.list(
        {"payment": {"type": "payment_intent", "payment_intent": payment}}
    )
    return str(found.data[0].invoice) if found.data else ""


def _follow_plan(subscription: Subscription) -> None:
    plan, known = subscription.next_plan, subscription.provider_subscription
    cents = offers.price_with_tax(plan)
    if (plan.code, cents) == (subscription.provider_plan, subscription.provider_cents):
        return
    there = _client().v1.subscriptions
    if plan.is_free:
        there.update(known, {"cancel_at_period_end": True})
    else:
        item = there.retrieve(known)["items"].data[0]
        price = {**_recurring(cents, settings.CURRENCY), "product": item.price.product}
        there.update(
            known,
            {
                "cancel_at_period_end": False,
                "items": [{"id": item.id, "price_data": price}],
                # What is due for the days between was, or will be, an order of its own.
                "proration_behavior": "none",
            },
        )
    still = Subscription.objects.filter(pk=subscription.pk, provider_subscription=known)
    still.update(provider_plan=plan.code, provider_cents=cents)


def _is_in_use(session_id: str) -> bool:
    """Whether the page can still be paid, or was paid and its event is on the way."""
    try:
        session = _client().v1.checkout.sessions.retrieve(session_id)
    except stripe.InvalidRequestError:
        return False
    return bool(session.status == "open" or session.payment_status == "paid")


def _expire(session_id: str) -> None:
    _client().v1.checkout.sessions.expire(session_id)


def _session_for(order: Order) -> dict[str, Any]:
    place = link("credits:show-order", order_id=order.public_id)
    renews = order.kind in (Kind.PLAN, Kind.RENEWAL)
    known = {"order": order.public_id}
    price: dict[str, Any] = {
        **(_recurring(order.total_cents, order.currency) if renews else _once(order)),
        "product_data": {"name": order.description},
    }
    session: dict[str, Any] = {
        "mode": "subscription" if renews else "payment",
        "client_reference_id": order.public_id,
        "metadata": known,
        "line_items": [{"quantity": 1, "price_data": price}],
        "success_url": place,
        "cancel_url": place,
        "subscription_data" if renews else "payment_intent_data": {"metadata": known},
    }
    customer = Subscription.objects.get(account=order.account).provider_customer
    return {**session, "customer": customer} if customer else session


def _once(order: Order) -> dict[str, Any]:
    return {"currency": order.currency.lower(), "unit_amount": order.total_cents}


def _recurring(cents: int, currency: str) -> dict[str, Any]:
    return {
        "currency": currency.lower(),
        "unit_amount": cents,
        "recurring": {"interval": "month"},
    }


def _payment_of_invoice(invoice: str) -> str:
    found = _client().v1.invoice_payments.list({"invoice": invoice})
    return str(found.data[0].payment.payment_intent) if found.data else ""


def _client() -> Any:
    return stripe.StripeClient(
        settings.STRIPE_SECRET_KEY,
        base_addresses={"api": settings.STRIPE_API_URL},
        max_network_retries=1,
        http_client=stripe.RequestsClient(timeout=TIMEOUT_SECONDS),
    )
