"""Stripe Checkout: the customer pays at Stripe's, and no card comes near us.

Packs and upgrades are paid once; a plan is a subscription there, which renews by itself and tells
us when that was paid. Only events that Stripe signed change anything here, each once.
"""

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import wraps
from typing import Any

import stripe
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.emails import link
from credits import emails, orders, plans
from credits.models import Order, Plan, ProviderEvent, Subscription
from credits.payments import PaymentUnavailable
from credits.periods import period_of
from credits.renewals import ENDS_AFTER

logger = logging.getLogger(__name__)

Kind = Order.Kind
TIMEOUT_SECONDS = 10
# A signed event that is older was caught on the way and sent again by somebody else.
OLDEST_SECONDS = 300


class ForgedEvent(Exception):
    """It was not signed by Stripe, or too long ago."""


class EventTooEarly(Exception):
    """It tells of something that another event, still on its way, tells first."""


def _asks_stripe(ask: Callable[..., Any]) -> Callable[..., Any]:
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
    @_asks_stripe
    def begin(self, order: Order) -> None:
        """Opens a Checkout page for the order; its address is kept with the order."""
        place = link("credits:show-order", order_id=order.public_id)
        renews = order.kind in (Kind.PLAN, Kind.RENEWAL)
        known = {"order": order.public_id}
        subscription = Subscription.objects.get(account=order.account)
        params: dict[str, Any] = {
            "mode": "subscription" if renews else "payment",
            "client_reference_id": order.public_id,
            "metadata": known,
            "line_items": [{"quantity": 1, "price_data": _price(order, renews)}],
            "success_url": place,
            "cancel_url": place,
        }
        if renews:
            params["subscription_data"] = {"metadata": known}
        else:
            params["payment_intent_data"] = {"metadata": known}
        if subscription.provider_customer:
            params["customer"] = subscription.provider_customer
        # A page that is still open is opened again; one that has run out is followed by another.
        customer = subscription.provider_customer
        attempt = f"{order.public_id}-{timezone.now():%Y%m%d}-{customer}"
        session = _client().v1.checkout.sessions.create(params, {"idempotency_key": attempt})
        order.provider_session, order.provider_url = session.id, session.url or ""
        order.save(update_fields=["provider_session", "provider_url"])

    @_asks_stripe
    def give_back(self, order: Order) -> None:
        payment = order.provider_payment or _payment_of_invoice(order.provider_invoice)
        left = order.total_cents - order.refunded_cents
        _client().v1.refunds.create(
            {"payment_intent": payment, "amount": left},
            {"idempotency_key": f"refund-{order.public_id}-{order.refunded_cents}"},
        )

    @_asks_stripe
    def follow_plan(self, subscription: Subscription) -> None:
        """May be called at any time: tells Stripe only what it does not know yet."""
        plan, known = subscription.following_plan, subscription.provider_subscription
        if plan.code == subscription.provider_plan:
            return
        there = _client().v1.subscriptions
        if subscription.plan.is_free:
            there.cancel(known)
        elif plan.is_free:
            there.update(known, {"cancel_at_period_end": True})
        else:
            item = there.retrieve(known)["items"].data[0]
            price = {
                "currency": settings.CURRENCY.lower(),
                "product": item.price.product,
                "recurring": {"interval": "month"},
                "unit_amount": orders.price_with_tax(plan),
            }
            there.update(
                known,
                {
                    "cancel_at_period_end": False,
                    "items": [{"id": item.id, "price_data": price}],
                    # What is due for the days between was, or will be, an order of its own.
                    "proration_behavior": "none",
                },
            )
        _note_told(subscription, plan)


def receive_event(payload: bytes, signature: str) -> None:
    """What Stripe's webhook sends. Sent again, it changes nothing again."""
    event = _read(payload, signature)
    handle = HANDLERS.get(event["type"])
    if handle is None:
        return
    thing = event["data"]["object"]
    # Before the transaction: none is held while Stripe is waited for.
    if event["type"] == "charge.refunded":
        thing = {**thing, "invoice": thing.get("invoice") or _invoice_of_payment(thing)}
    elif handle is _on_session_paid:
        _end_the_one_before(thing)
    with transaction.atomic():
        seen = {"kind": event["type"]}
        _, is_new = ProviderEvent.objects.get_or_create(event_id=event["id"], defaults=seen)
        if is_new:
            handle(thing)
    # Outside of the transaction, and also when only this failed the last time.
    _follow(thing)


def end_what_is_over() -> None:
    """Stripe charges nobody whose plan is Free or whose account is closed."""
    renewing = Subscription.objects.exclude(provider_subscription="")
    for subscription in renewing.select_related("account", "plan", "next_plan"):
        try:
            if not subscription.account.is_open or subscription.plan.is_free:
                _end(subscription)
            else:
                Stripe().follow_plan(subscription)
        except PaymentUnavailable:
            # The next day's work comes back to it; the others are not held up.
            continue


def _on_session_paid(session: dict[str, Any]) -> None:
    order = Order.objects.filter(public_id=(session.get("metadata") or {}).get("order")).first()
    if order is None or session.get("payment_status") != "paid":
        return
    paid = (session.get("amount_total"), str(session.get("currency")).upper())
    if paid != (order.total_cents, order.currency):
        logger.error("Stripe: %s was paid with another amount: %s", order.public_id, paid)
        return
    fulfilled = orders.fulfil_order(
        order=order,
        provider_payment=session.get("payment_intent") or "",
        provider_invoice=session.get("invoice") or "",
    )
    learned = {}
    if session.get("customer"):
        learned["provider_customer"] = session["customer"]
    if session.get("subscription") and order.plan:
        learned["provider_subscription"] = session["subscription"]
        learned["provider_plan"] = order.plan.code
    if fulfilled and learned:
        Subscription.objects.filter(account=order.account).update(**learned)


def _on_session_expired(session: dict[str, Any]) -> None:
    orders_of = Order.objects.pending().filter(provider_session=session["id"])
    # A renewal waits on: another page is opened for it when the customer asks.
    order = orders_of.exclude(kind=Kind.RENEWAL).first()
    if order is not None:
        orders.cancel_order(order=order)


def _on_invoice_paid(invoice: dict[str, Any]) -> None:
    """A renewal. The first invoice of a subscription is told by its session."""
    subscription = _subscription_of(invoice)
    if subscription is None or invoice.get("billing_reason") != "subscription_cycle":
        return
    account = subscription.account
    subscription = plans.locked(account)
    if Order.objects.filter(provider_invoice=invoice["id"]).exists():
        return
    plans.cancel_waiting(account, Kind.RENEWAL)
    plans.turn_over(subscription, timezone.now().date())
    plan = Plan.objects.filter(code=subscription.provider_plan).first() or subscription.plan
    order = orders.start_renewal(
        account=account,
        plan=plan,
        period=period_of(subscription.covered_until, subscription.started_on),
        due_on=timezone.now().date() + timedelta(days=1),
        paid_cents=invoice["amount_paid"],
    )
    orders.fulfil_order(
        order=order,
        provider_invoice=invoice["id"],
        provider_payment=_payment_in(invoice),
    )


def _on_payment_failed(invoice: dict[str, Any]) -> None:
    subscription = _subscription_of(invoice)
    if subscription is not None and invoice.get("billing_reason") == "subscription_cycle":
        ends_on = subscription.covered_until + ENDS_AFTER
        emails.queue_payment_failed(
            account=subscription.account, plan=subscription.plan, ends_on=ends_on
        )


def _on_refunded(charge: dict[str, Any]) -> None:
    named = (charge.get("metadata") or {}).get("order", "")
    order = Order.objects.filter(public_id=named).first()
    for field, value in (
        ("provider_payment", charge.get("payment_intent")),
        ("provider_invoice", charge.get("invoice")),
    ):
        order = order or (value and Order.objects.filter(**{field: value}).first()) or None
    if order is not None:
        cents, reason = charge["amount_refunded"], "Refunded by card"
        orders.refund_order(order=order, cents=cents, reason=reason)
    elif _is_our_customer(charge.get("customer")):
        raise EventTooEarly


def _on_subscription_ended(there: dict[str, Any]) -> None:
    """Cancelled at Stripe's, or never paid: what is paid for lasts, then it is Free."""
    subscription = Subscription.objects.filter(provider_subscription=there["id"]).first()
    if subscription is None:
        return
    subscription = plans.locked(subscription.account)
    subscription.provider_subscription = subscription.provider_plan = ""
    if not subscription.plan.is_free:
        subscription.next_plan = Plan.objects.free()
        subscription.next_plan_on = subscription.covered_until
    subscription.save()


HANDLERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "checkout.session.completed": _on_session_paid,
    "checkout.session.async_payment_succeeded": _on_session_paid,
    "checkout.session.expired": _on_session_expired,
    "invoice.paid": _on_invoice_paid,
    "invoice.payment_failed": _on_payment_failed,
    "charge.refunded": _on_refunded,
    "customer.subscription.deleted": _on_subscription_ended,
}


def _read(payload: bytes, signature: str) -> dict[str, Any]:
    try:
        stripe.WebhookSignature.verify_header(
            payload.decode(), signature, settings.STRIPE_WEBHOOK_SECRET, OLDEST_SECONDS
        )
        event: dict[str, Any] = json.loads(payload)
        return event
    except (stripe.SignatureVerificationError, ValueError):
        raise ForgedEvent from None


def _follow(thing: dict[str, Any]) -> None:
    """An upgrade was paid: the subscription at Stripe's costs more from its next month on."""
    named = (thing.get("metadata") or {}).get("order", "")
    of_account = Subscription.objects.filter(account__orders__public_id=named)
    subscription = of_account.select_related("plan", "next_plan").first()
    if subscription is not None and subscription.renews_itself:
        Stripe().follow_plan(subscription)


def _end_the_one_before(session: dict[str, Any]) -> None:
    """Who takes a plan anew does not pay for the old one as well."""
    order = Order.objects.filter(public_id=(session.get("metadata") or {}).get("order")).first()
    new = session.get("subscription")
    if order is not None and new and session.get("payment_status") == "paid":
        before = Subscription.objects.get(account=order.account).provider_subscription
        if before not in ("", new):
            _cancel(before)


@_asks_stripe
def _cancel(provider_subscription: str) -> None:
    # It may be over there already.
    with suppress(stripe.InvalidRequestError):
        _client().v1.subscriptions.cancel(provider_subscription)


def _end(subscription: Subscription) -> None:
    _cancel(subscription.provider_subscription)
    subscription.provider_subscription = subscription.provider_plan = ""
    subscription.save(update_fields=["provider_subscription", "provider_plan"])


def _note_told(subscription: Subscription, plan: Plan) -> None:
    Subscription.objects.filter(pk=subscription.pk).update(provider_plan=plan.code)


def _subscription_of(invoice: dict[str, Any]) -> Subscription | None:
    """Older versions of Stripe's API name it elsewhere than newer ones."""
    parent = (invoice.get("parent") or {}).get("subscription_details") or {}
    known = invoice.get("subscription") or parent.get("subscription")
    found = Subscription.objects.select_related("account", "plan")
    return found.filter(provider_subscription=known).first() if known else None


def _payment_in(invoice: dict[str, Any]) -> str:
    payments = (invoice.get("payments") or {}).get("data") or [{}]
    newer = (payments[0].get("payment") or {}).get("payment_intent")
    return str(invoice.get("payment_intent") or newer or "")


@_asks_stripe
def _invoice_of_payment(charge: dict[str, Any]) -> str:
    """Newer versions do not say it in the charge. Only asked for customers of ours."""
    payment = charge.get("payment_intent")
    known = Order.objects.filter(provider_payment=payment).exists() if payment else True
    if known or (charge.get("metadata") or {}).get("order"):
        return ""
    if not _is_our_customer(charge.get("customer")):
        return ""
    found = _client().v1.invoice_payments.list(
        {"payment": {"type": "payment_intent", "payment_intent": str(payment)}}
    )
    return str(found.data[0].invoice) if found.data else ""


def _payment_of_invoice(invoice: str) -> str:
    found = _client().v1.invoice_payments.list({"invoice": invoice})
    return str(found.data[0].payment.payment_intent) if found.data else ""


def _is_our_customer(customer: Any) -> bool:
    return bool(customer) and Subscription.objects.filter(provider_customer=customer).exists()


def _price(order: Order, renews: bool) -> dict[str, Any]:
    price: dict[str, Any] = {
        "currency": order.currency.lower(),
        "product_data": {"name": order.description},
        "unit_amount": order.total_cents,
    }
    return {**price, "recurring": {"interval": "month"}} if renews else price


def _client() -> Any:
    return stripe.StripeClient(
        settings.STRIPE_SECRET_KEY,
        base_addresses={"api": settings.STRIPE_API_URL},
        max_network_retries=1,
        http_client=stripe.RequestsClient(timeout=TIMEOUT_SECONDS),
    )
