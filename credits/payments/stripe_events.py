"""Stripe Checkout, the part that listens: only events that Stripe signed change anything here, and
each of them once, in whatever order they come."""

import json
import logging
import time
from collections.abc import Callable
from typing import Any

import stripe
from django.conf import settings
from django.db import transaction

from accounts import audit
from accounts.models import Account
from credits import emails, orders, plans
from credits.coverage import GRACE
from credits.models import Order, Plan, ProviderCancellation, ProviderEvent, Subscription
from credits.payments import catch_up
from credits.payments.stripe import invoice_of_payment

logger = logging.getLogger(__name__)

# A signed event that is older was caught on the way and sent again by somebody else.
OLDEST_SECONDS = 300
# So long an event may be waited for which tells first what this one goes on about.
PATIENCE_SECONDS = 24 * 3600

Thing = dict[str, Any]


class ForgedEvent(Exception):
    """It was not signed by Stripe, or too long ago."""


class EventTooEarly(Exception):
    """It tells of something that another event, still on its way, tells first."""


def receive_event(payload: bytes, signature: str) -> None:
    """What Stripe's webhook sends. Sent again, it changes nothing again."""
    event = _read(payload, signature)
    handle = HANDLERS.get(event["type"])
    if handle is None:
        return
    thing = event["data"]["object"]
    thing["age"] = time.time() - event.get("created", time.time())
    if handle in (_on_refunded, _on_dispute_closed):
        # Asked before the transaction: none is held while Stripe is waited for.
        thing["invoice"] = thing.get("invoice") or _invoice_behind(thing)
    with transaction.atomic():
        seen = {"kind": event["type"]}
        _, is_new = ProviderEvent.objects.get_or_create(event_id=event["id"], defaults=seen)
        if is_new:
            handle(thing)
    # Also when only this failed the last time.
    account = _account_of(thing)
    if account is not None:
        catch_up(account)


def _on_session_paid(session: Thing) -> None:
    order = _order_named_in(session)
    if order is None or session.get("payment_status") != "paid":
        return
    paid = (session.get("amount_total"), str(session.get("currency")).upper())
    if paid != (order.total_cents, order.currency):
        logger.error("Stripe: %s was paid with another amount: %s", order.public_id, paid)
        return
    payment, invoice = session.get("payment_intent") or "", session.get("invoice") or ""
    if orders.fulfil_order(order=order, provider_payment=payment, provider_invoice=invoice):
        _remember_subscription(order, session)
    elif order.is_paid and (payment, invoice) != (order.provider_payment, order.provider_invoice):
        _note_paid_twice(order, session)


def _remember_subscription(order: Order, session: Thing) -> None:
    subscription = plans.locked(order.account)
    if session.get("customer"):
        subscription.provider_customer = session["customer"]
    if session.get("subscription") and order.plan:
        # Who takes a plan anew does not pay for the old one as well.
        plans.leave_provider(subscription)
        subscription.provider_subscription = session["subscription"]
        subscription.provider_plan = order.plan.code
        subscription.provider_cents = order.total_cents
    subscription.save()


def _note_paid_twice(order: Order, session: Thing) -> None:
    """Staff give the second payment back; a second subscription ends at once."""
    logger.error("Stripe: %s was paid twice: %s", order.public_id, session["id"])
    audit.record(order.account, None, "order.paid_twice", f"{order}: {session['id']}")
    if session.get("subscription"):
        ProviderCancellation.objects.get_or_create(
            provider_subscription=session["subscription"], defaults={"account": order.account}
        )


def _on_session_ended(session: Thing) -> None:
    """It ran out, or the payment failed after all."""
    waiting = Order.objects.pending().filter(provider_session=session["id"])
    # A renewal waits on: another page is opened for it when the customer asks.
    order = waiting.exclude(kind=Order.Kind.RENEWAL).first()
    if order is not None:
        orders.cancel_order(order=order)


def _on_invoice_paid(invoice: Thing) -> None:
    """A renewal. The first invoice of a subscription is told by its session."""
    account = _account_of(invoice)
    if account is None or invoice.get("billing_reason") != "subscription_cycle":
        return
    subscription = plans.locked(account)
    cents = int(invoice.get("total") or invoice["amount_paid"])
    if cents <= 0 or Order.objects.filter(provider_invoice=invoice["id"]).exists():
        return
    plan = _plan_paid(subscription, invoice, cents)
    month = plans.place_month(subscription)
    order = orders.start_renewal(
        subscription=subscription, plan=plan, month=month, paid_cents=cents
    )
    orders.fulfil_order(
        order=order, provider_invoice=invoice["id"], provider_payment=_payment_in(invoice)
    )


def _plan_paid(subscription: Subscription, invoice: Thing, cents: int) -> Plan:
    """What Stripe was told last; for a subscription that we left meanwhile, what costs as much."""
    known = Plan.objects.filter(code=subscription.provider_plan).first()
    if known is not None and not known.is_free:
        return known
    of_price = [plan for plan in Plan.objects.all() if orders.price_with_tax(plan) == cents]
    order = _order_named_in(_subscription_details(invoice))
    return of_price[0] if of_price else (order and order.plan) or subscription.plan


def _on_payment_failed(invoice: Thing) -> None:
    account = _account_of(invoice)
    if account is None or invoice.get("billing_reason") != "subscription_cycle":
        return
    subscription = account.subscription
    if subscription.covered_until is not None and not subscription.plan.is_free:
        emails.queue_payment_failed(
            account=account, plan=subscription.plan, ends_on=subscription.covered_until + GRACE
        )


def _on_refunded(charge: Thing) -> None:
    order = _order_of_charge(charge)
    if order is not None:
        orders.refund_order(
            order=order,
            cents=charge["amount_refunded"],
            reason="Refunded by card",
            told_by_provider=True,
        )


def _on_dispute_closed(dispute: Thing) -> None:
    """The bank has taken the money back for good."""
    if dispute.get("status") != "lost":
        return
    order = _order_of_charge(dispute)
    if order is not None:
        orders.refund_order(
            order=order,
            cents=order.refunded_cents + dispute["amount"],
            reason="Charged back by the bank",
            told_by_provider=True,
        )


def _on_subscription_ended(there: Thing) -> None:
    """Cancelled at Stripe's, or never paid: what is paid for lasts, then it is Free."""
    known = Subscription.objects.filter(provider_subscription=there["id"]).first()
    if known is None:
        return
    subscription = plans.locked(known.account)
    if subscription.provider_subscription != there["id"]:
        # Another one was taken meanwhile.
        return
    subscription.provider_subscription = subscription.provider_plan = ""
    subscription.next_plan = Plan.objects.free()
    subscription.save()
    plans.settle(subscription)


HANDLERS: dict[str, Callable[[Thing], None]] = {
    "checkout.session.completed": _on_session_paid,
    "checkout.session.async_payment_succeeded": _on_session_paid,
    "checkout.session.async_payment_failed": _on_session_ended,
    "checkout.session.expired": _on_session_ended,
    "invoice.paid": _on_invoice_paid,
    "invoice.payment_failed": _on_payment_failed,
    "charge.refunded": _on_refunded,
    "charge.dispute.closed": _on_dispute_closed,
    "customer.subscription.deleted": _on_subscription_ended,
}


def _read(payload: bytes, signature: str) -> Thing:
    try:
        stripe.WebhookSignature.verify_header(
            payload.decode(), signature, settings.STRIPE_WEBHOOK_SECRET, OLDEST_SECONDS
        )
        event: Thing = json.loads(payload)
        return event
    except (stripe.SignatureVerificationError, ValueError):
        raise ForgedEvent from None


def _order_named_in(thing: Thing) -> Order | None:
    named = (thing.get("metadata") or {}).get("order")
    return Order.objects.select_related("account").filter(public_id=named).first()


def _account_of(thing: Thing) -> Account | None:
    """Whose it is, of ours: by the subscription it is about, or the order it names."""
    about = thing.get("subscription") or _subscription_details(thing).get("subscription")
    known = Subscription.objects.filter(provider_subscription=about or "none")
    subscription = known.select_related("account").first()
    if subscription is not None:
        return subscription.account
    leaving = ProviderCancellation.objects.filter(provider_subscription=about or "none")
    left = leaving.select_related("account").first()
    if left is not None:
        return left.account
    order = _order_named_in(thing) or _order_named_in(_subscription_details(thing))
    return order.account if order else None


def _subscription_details(thing: Thing) -> Thing:
    """Older versions of Stripe's API name them elsewhere than newer ones."""
    parent = thing.get("parent") or thing
    details: Thing = parent.get("subscription_details") or {}
    return details


def _payment_in(invoice: Thing) -> str:
    payments = (invoice.get("payments") or {}).get("data") or [{}]
    newer = (payments[0].get("payment") or {}).get("payment_intent")
    return str(invoice.get("payment_intent") or newer or "")


def _order_of_charge(charge: Thing) -> Order | None:
    payment, invoice = charge.get("payment_intent") or "", charge.get("invoice") or ""
    named = _order_named_in(charge)
    if named is not None and named.provider_payment in ("", payment):
        return named
    for field, value in (("provider_payment", payment), ("provider_invoice", invoice)):
        found = Order.objects.filter(**{field: value}).first() if value else None
        if found is not None:
            return found
    if named is None and _is_our_customer(charge) and charge["age"] < PATIENCE_SECONDS:
        raise EventTooEarly
    # Of another sale, or of a second payment that granted nothing.
    logger.warning("Stripe: money of no order of ours went back: %s", payment)
    return None


def _invoice_behind(charge: Thing) -> str:
    """Only asked for where our own rows do not know the payment."""
    payment = charge.get("payment_intent")
    if not payment or not _is_our_customer(charge) or _order_named_in(charge):
        return ""
    if Order.objects.filter(provider_payment=payment).exists():
        return ""
    return str(invoice_of_payment(payment))


def _is_our_customer(charge: Thing) -> bool:
    customer = charge.get("customer")
    return bool(customer) and Subscription.objects.filter(provider_customer=customer).exists()
