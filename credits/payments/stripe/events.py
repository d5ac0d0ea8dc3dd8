"""Handle Stripe's webhook events: signed ones only, each once, in any order."""

import json
import logging
import time
from collections.abc import Callable

import stripe
from django.conf import settings
from django.db import transaction

from accounts import audit
from credits import emails
from credits.automatic_top_ups.services import switch_off_after_return
from credits.models import (
    AutomaticTopUp,
    Order,
    OrderKind,
    OrderState,
    Plan,
    ProviderCancellation,
    ProviderEvent,
    Subscription,
)
from credits.orders import fulfillment, placement, refunds
from credits.orders.quotes import price_with_tax
from credits.payments import sync_with_provider
from credits.payments.stripe import card_events
from credits.payments.stripe.payloads import (
    Payload,
    find_account,
    find_invoice,
    find_order,
    find_order_for_charge,
    get_int,
    get_object,
    get_payment_intent,
    get_text,
    get_url,
)
from credits.plans import subscriptions
from credits.plans.coverage import GRACE_PERIOD

logger = logging.getLogger(__name__)

# In both directions, or future events could be replayed until their time comes.
TOLERANCE_SECONDS = 300


class InvalidSignature(Exception):
    """Raised if the signature is missing, wrong, or old."""


class InvalidEvent(Exception):
    """Raised if a signed body isn't an event."""


def receive_event(payload: bytes, signature: str) -> None:
    event = _verify_and_parse(payload, signature)
    kind, event_id = get_text(event, "type"), get_text(event, "id")
    if not (kind and event_id):
        raise InvalidEvent
    handle = HANDLERS.get(kind)
    if handle is None:
        return
    data_object = get_object(get_object(event, "data"), "object")
    created = event.get("created")
    data_object["age"] = time.time() - created if isinstance(created, int | float) else 0
    # Before the transaction, as these may ask Stripe.
    if kind == "checkout.session.completed":
        data_object["card"] = card_events.fetch_session_card(data_object)
    if kind.startswith("charge."):
        data_object["invoice"] = get_text(data_object, "invoice") or find_invoice(data_object)
    with transaction.atomic():
        _, is_new = ProviderEvent.objects.get_or_create(
            event_id=event_id, defaults={"kind": kind[:100]}
        )
        if is_new:
            handle(data_object)
    # For known events too: this may have failed, and Stripe retries.
    account = find_account(data_object)
    if account is not None:
        sync_with_provider(account)


def _on_session_completed(session: Payload) -> None:
    _on_session_paid(session)
    # After the plan is stored, which the card renews.
    card_events.on_card_entered(session)


def _on_session_paid(session: Payload) -> None:
    order = find_order(session)
    if order is None or session.get("payment_status") != "paid":
        return
    paid = (get_int(session, "amount_total"), get_text(session, "currency").upper())
    if paid != (order.total_cents, order.currency):
        logger.error("Stripe: payment doesn't match order %s: %s", order.public_id, paid)
        return
    payment, invoice = get_text(session, "payment_intent"), get_text(session, "invoice")
    stripe_subscription = get_text(session, "subscription")
    if fulfillment.fulfill_order(order=order, provider_payment=payment, provider_invoice=invoice):
        subscription = subscriptions.lock_subscription(order.account)
        customer = get_text(session, "customer")
        subscription.provider_customer = customer or subscription.provider_customer
        if stripe_subscription and order.plan:
            # The old subscription must not be charged again.
            subscriptions.cancel_at_provider(subscription)
            subscription.provider_subscription = stripe_subscription
            subscription.provider_plan = order.plan.code
            subscription.provider_cents = order.total_cents
        subscription.save()
    elif order.is_paid and (payment, invoice) != (order.provider_payment, order.provider_invoice):
        session_id = get_text(session, "id")
        logger.error("Stripe: order %s was paid twice, in session %s", order.public_id, session_id)
        audit.record(order.account, None, "order.paid_twice", f"{order}: {session_id}")
        if stripe_subscription:
            ProviderCancellation.objects.get_or_create(
                provider_subscription=stripe_subscription, defaults={"account": order.account}
            )


def _on_session_ended(session: Payload) -> None:
    pending = Order.objects.pending().filter(provider_session=get_text(session, "id") or "none")
    # The customer can open another session for a renewal.
    order = pending.exclude(kind=OrderKind.RENEWAL).first()
    if order is not None:
        placement.cancel_order(order=order)


def _on_invoice_paid(invoice: Payload) -> None:
    """The first invoice is paid with its session."""
    account, invoice_id = find_account(invoice), get_text(invoice, "id")
    if account is None or invoice.get("billing_reason") != "subscription_cycle":
        return
    subscription = subscriptions.lock_subscription(account)
    if not invoice_id or Order.objects.filter(provider_invoice=invoice_id).exists():
        return
    plan, cents = _match_plan(subscription, invoice)
    if plan is None:
        logger.error("Stripe: invoice %s matches no plan: %s cents", invoice_id, cents)
        audit.record(account, None, "order.odd_payment", f"{invoice_id}: {cents}")
        return
    month = subscriptions.assign_paid_month(subscription)
    order = placement.place_renewal(
        subscription=subscription, plan=plan, month=month, paid_cents=cents
    )
    fulfillment.fulfill_order(
        order=order, provider_invoice=invoice_id, provider_payment=get_payment_intent(invoice)
    )


def _match_plan(subscription: Subscription, invoice: Payload) -> tuple[Plan | None, int]:
    """Return the plan last sent to Stripe, at the price sent or last paid.

    Otherwise, for example after a cancellation, return a plan with this price.
    """
    cents = get_int(invoice, "total") or get_int(invoice, "amount_paid") or 0
    if get_text(invoice, "currency").upper() not in ("", settings.CURRENCY) or cents <= 0:
        return None, cents
    sent_plan = Plan.objects.filter(code=subscription.provider_plan).first()
    last_order = subscription.account.orders.filter(state=OrderState.PAID, plan=sent_plan).first()
    if sent_plan is not None and (
        cents == subscription.provider_cents or (last_order and cents == last_order.total_cents)
    ):
        return sent_plan, cents
    account = subscription.account
    matching = [plan for plan in Plan.objects.all() if price_with_tax(account, plan) == cents]
    return (matching[0] if matching else None), cents


def _on_invoice_payment_failed(invoice: Payload) -> None:
    account = find_account(invoice)
    if account is None or invoice.get("billing_reason") != "subscription_cycle":
        return
    subscription = account.subscription
    if subscription.covered_until is not None and not subscription.plan.is_free:
        emails.queue_payment_failed(
            account=account,
            plan=subscription.plan,
            ends_on=subscription.covered_until + GRACE_PERIOD,
            payment_url=get_url(invoice, "hosted_invoice_url"),
        )


def _on_refunded(charge: Payload) -> None:
    order, cents = find_order_for_charge(charge), get_int(charge, "amount_refunded")
    if order is not None and cents:
        refunds.refund_order(
            order=order, cents=cents, reason="Refunded to the card", reported_by_provider=True
        )
        switch_off_after_return(order=order, reason=AutomaticTopUp.Off.REFUND)


def _on_dispute_opened(dispute: Payload) -> None:
    order = find_order_for_charge(dispute)
    if order is not None:
        switch_off_after_return(order=order, reason=AutomaticTopUp.Off.DISPUTE)


def _on_dispute_closed(dispute: Payload) -> None:
    if dispute.get("status") != "lost":
        return
    order, cents = find_order_for_charge(dispute), get_int(dispute, "amount")
    if order is not None and cents:
        # Lock, as another refund may be recorded now.
        subscriptions.lock_subscription(order.account)
        order.refresh_from_db()
        refunds.refund_order(
            order=order,
            cents=order.refunded_cents + cents,
            reason="Payment reversed by the bank",
            reported_by_provider=True,
        )


def _on_subscription_ended(stripe_subscription: Payload) -> None:
    stripe_id = get_text(stripe_subscription, "id")
    match = Subscription.objects.filter(provider_subscription=stripe_id or "none").first()
    if match is None:
        return
    subscription = subscriptions.lock_subscription(match.account)
    if subscription.provider_subscription != stripe_id:
        # Replaced before the lock was taken.
        return
    subscription.provider_subscription = subscription.provider_plan = ""
    subscription.next_plan = Plan.objects.free()
    subscription.save()
    subscriptions.recompute_plan(subscription)


HANDLERS: dict[str, Callable[[Payload], None]] = {
    "checkout.session.completed": _on_session_completed,
    "checkout.session.async_payment_succeeded": _on_session_paid,
    "checkout.session.async_payment_failed": _on_session_ended,
    "checkout.session.expired": _on_session_ended,
    "invoice.paid": _on_invoice_paid,
    "invoice.payment_failed": _on_invoice_payment_failed,
    "charge.refunded": _on_refunded,
    "charge.dispute.created": _on_dispute_opened,
    "charge.dispute.closed": _on_dispute_closed,
    "customer.subscription.deleted": _on_subscription_ended,
    "payment_intent.succeeded": card_events.on_payment_succeeded,
    "payment_intent.payment_failed": card_events.on_payment_failed,
    "payment_method.automatically_updated": card_events.on_card_updated,
    "payment_method.detached": card_events.on_card_detached,
}


def _verify_and_parse(payload: bytes, signature: str) -> Payload:
    try:
        stripe.WebhookSignature.verify_header(
            payload.decode(), signature, settings.STRIPE_WEBHOOK_SECRET, TOLERANCE_SECONDS
        )
    except (stripe.SignatureVerificationError, ValueError):
        raise InvalidSignature from None
    # The library refuses only old timestamps, and reads the first `t`.
    parts = (part.split("=") for part in signature.split(","))
    signed_at = int(next(part[1] for part in parts if part[0] == "t"))
    if signed_at > time.time() + TOLERANCE_SECONDS:
        raise InvalidSignature
    try:
        event = json.loads(payload)
    except (ValueError, RecursionError):
        raise InvalidEvent from None
    if not isinstance(event, dict):
        raise InvalidEvent
    return event
