"""Stripe Checkout, the part that listens: only events that Stripe signed change anything here, and
each of them once, in whatever order they come."""

import json
import logging
import time
from collections.abc import Callable

import stripe
from django.conf import settings
from django.db import transaction

from accounts import audit
from credits import emails
from credits.models import Order, Plan, ProviderCancellation, ProviderEvent, Subscription
from credits.orders import lifecycle, refunds
from credits.payments import sync_with_provider
from credits.payments.stripe_payloads import (
    Thing,
    account_of,
    invoice_behind,
    is_of_our_customer,
    order_named_in,
    part_in,
    payment_in,
    text_in,
    whole_in,
)
from credits.plans import offers, subscriptions
from credits.plans.coverage import GRACE

logger = logging.getLogger(__name__)

# Stripe's usual tolerance, both ways: an older event may be a replay, and one from the future could
# be replayed until then.
TOLERANCE_SECONDS = 300
# So long an event may be waited for which tells first what this one goes on about.
PATIENCE_SECONDS = 24 * 3600


class ForgedEvent(Exception):
    """It was not signed by Stripe, or not just now."""


class OddEvent(Exception):
    """It is signed, and not of the form that Stripe's events have."""


class EventTooEarly(Exception):
    """It tells of something that another event, still on its way, tells first."""


def receive_event(payload: bytes, signature: str) -> None:
    """What Stripe's webhook sends. Sent again, it changes nothing again."""
    event = _read(payload, signature)
    kind, event_id = text_in(event, "type"), text_in(event, "id")
    if not (kind and event_id):
        raise OddEvent
    handle = HANDLERS.get(kind)
    if handle is None:
        return
    thing = part_in(part_in(event, "data"), "object")
    created = event.get("created")
    thing["age"] = time.time() - created if isinstance(created, int | float) else 0
    if handle in (_on_refunded, _on_dispute_closed):
        # Asked before the transaction: none is held while Stripe is waited for.
        thing["invoice"] = text_in(thing, "invoice") or invoice_behind(thing)
    with transaction.atomic():
        _, is_new = ProviderEvent.objects.get_or_create(
            event_id=event_id, defaults={"kind": kind[:100]}
        )
        if is_new:
            handle(thing)
    # Also when only this failed the last time.
    account = account_of(thing)
    if account is not None:
        sync_with_provider(account)


def _on_session_paid(session: Thing) -> None:
    order = order_named_in(session)
    if order is None or session.get("payment_status") != "paid":
        return
    paid = (whole_in(session, "amount_total"), text_in(session, "currency").upper())
    if paid != (order.total_cents, order.currency):
        logger.error("Stripe: %s was paid with another amount: %s", order.public_id, paid)
        return
    payment, invoice = text_in(session, "payment_intent"), text_in(session, "invoice")
    if lifecycle.fulfil_order(order=order, provider_payment=payment, provider_invoice=invoice):
        _remember_subscription(order, session)
    elif order.is_paid and (payment, invoice) != (order.provider_payment, order.provider_invoice):
        _note_paid_twice(order, session)


def _remember_subscription(order: Order, session: Thing) -> None:
    subscription = subscriptions.lock_subscription(order.account)
    subscription.provider_customer = text_in(session, "customer") or subscription.provider_customer
    if text_in(session, "subscription") and order.plan:
        # Who takes a plan anew does not pay for the old one as well.
        subscriptions.cancel_at_provider(subscription)
        subscription.provider_subscription = text_in(session, "subscription")
        subscription.provider_plan = order.plan.code
        subscription.provider_cents = order.total_cents
    subscription.save()


def _note_paid_twice(order: Order, session: Thing) -> None:
    """Staff give the second payment back; a second subscription ends at once."""
    session_id, subscription = text_in(session, "id"), text_in(session, "subscription")
    logger.error("Stripe: %s was paid twice: %s", order.public_id, session_id)
    audit.record(order.account, None, "order.paid_twice", f"{order}: {session_id}")
    if subscription:
        ProviderCancellation.objects.get_or_create(
            provider_subscription=subscription, defaults={"account": order.account}
        )


def _on_session_ended(session: Thing) -> None:
    """It ran out, or the payment failed after all."""
    waiting = Order.objects.pending().filter(provider_session=text_in(session, "id") or "none")
    # A renewal waits on: another page is opened for it when the customer asks.
    order = waiting.exclude(kind=Order.Kind.RENEWAL).first()
    if order is not None:
        lifecycle.cancel_order(order=order)


def _on_invoice_paid(invoice: Thing) -> None:
    """A renewal. The first invoice of a subscription is told by its session."""
    account, invoice_id = account_of(invoice), text_in(invoice, "id")
    if account is None or invoice.get("billing_reason") != "subscription_cycle":
        return
    subscription = subscriptions.lock_subscription(account)
    if not invoice_id or Order.objects.filter(provider_invoice=invoice_id).exists():
        return
    plan, cents = _plan_paid(subscription, invoice)
    if plan is None:
        logger.error("Stripe: the amount of invoice %s is that of no plan: %s", invoice_id, cents)
        audit.record(account, None, "order.odd_payment", f"{invoice_id}: {cents}")
        return
    month = subscriptions.place_month(subscription)
    order = lifecycle.start_renewal(
        subscription=subscription, plan=plan, month=month, paid_cents=cents
    )
    lifecycle.fulfil_order(
        order=order, provider_invoice=invoice_id, provider_payment=payment_in(invoice)
    )


def _plan_paid(subscription: Subscription, invoice: Thing) -> tuple[Plan | None, int]:
    """The plan whose price was paid: the one Stripe was told last, at its price then or today's,
    or, for a subscription that we left meanwhile, what costs as much."""
    cents = whole_in(invoice, "total") or whole_in(invoice, "amount_paid") or 0
    if text_in(invoice, "currency").upper() not in ("", settings.CURRENCY) or cents <= 0:
        return None, cents
    known = Plan.objects.filter(code=subscription.provider_plan).first()
    before = subscription.account.orders.filter(state=Order.State.PAID, plan=known).first()
    if known is not None and (
        cents == subscription.provider_cents or (before and cents == before.total_cents)
    ):
        return known, cents
    of_price = [plan for plan in Plan.objects.all() if offers.price_with_tax(plan) == cents]
    return (of_price[0] if of_price else None), cents


def _on_payment_failed(invoice: Thing) -> None:
    account = account_of(invoice)
    if account is None or invoice.get("billing_reason") != "subscription_cycle":
        return
    subscription = account.subscription
    if subscription.covered_until is not None and not subscription.plan.is_free:
        emails.queue_payment_failed(
            account=account, plan=subscription.plan, ends_on=subscription.covered_until + GRACE
        )


def _on_refunded(charge: Thing) -> None:
    order, cents = _order_of_charge(charge), whole_in(charge, "amount_refunded")
    if order is not None and cents:
        refunds.refund_order(
            order=order,
            cents=cents,
            reason="Refunded by card",
            told_by_provider=True,
        )


def _on_dispute_closed(dispute: Thing) -> None:
    """The bank has taken the money back for good."""
    if dispute.get("status") != "lost":
        return
    order, cents = _order_of_charge(dispute), whole_in(dispute, "amount")
    if order is not None and cents:
        refunds.refund_order(
            order=order,
            cents=order.refunded_cents + cents,
            reason="Charged back by the bank",
            told_by_provider=True,
        )


def _on_subscription_ended(there: Thing) -> None:
    """Cancelled at Stripe's, or never paid: what is paid for lasts, then it is Free."""
    ended = text_in(there, "id")
    known = Subscription.objects.filter(provider_subscription=ended or "none").first()
    if known is None:
        return
    subscription = subscriptions.lock_subscription(known.account)
    if subscription.provider_subscription != ended:
        # Another one was taken meanwhile.
        return
    subscription.provider_subscription = subscription.provider_plan = ""
    subscription.next_plan = Plan.objects.free()
    subscription.save()
    subscriptions.recompute_plan(subscription)


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
            payload.decode(), signature, settings.STRIPE_WEBHOOK_SECRET, TOLERANCE_SECONDS
        )
    except (stripe.SignatureVerificationError, ValueError):
        raise ForgedEvent from None
    # The library refuses only what is too old.
    if _signed_at(signature) > time.time() + TOLERANCE_SECONDS:
        raise ForgedEvent
    try:
        event = json.loads(payload)
    except (ValueError, RecursionError):
        raise OddEvent from None
    if not isinstance(event, dict):
        raise OddEvent
    return event


def _signed_at(signature: str) -> int:
    """Returns the first `t`, which is the one that the library has checked."""
    parts = (part.split("=") for part in signature.split(","))
    return int(next(part[1] for part in parts if part[0] == "t"))


def _order_of_charge(charge: Thing) -> Order | None:
    payment, invoice = text_in(charge, "payment_intent"), text_in(charge, "invoice")
    named = order_named_in(charge)
    if named is not None and named.provider_payment in ("", payment):
        return named
    for field, value in (("provider_payment", payment), ("provider_invoice", invoice)):
        found = Order.objects.filter(**{field: value}).first() if value else None
        if found is not None:
            return found
    if named is None and is_of_our_customer(charge) and charge["age"] < PATIENCE_SECONDS:
        raise EventTooEarly
    # Of another sale, or of a second payment that granted nothing.
    logger.warning("Stripe: money of no order of ours went back: %s", payment)
    return None
