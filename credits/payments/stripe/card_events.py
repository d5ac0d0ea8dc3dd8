import logging
from contextlib import suppress

from django.utils import timezone

from accounts import audit
from credits import emails
from credits.automatic_top_ups import orders
from credits.models import Order, SavedCard
from credits.payments import PaymentUnavailable, cards
from credits.payments.automatic_orders import record_payment
from credits.payments.stripe.cards import fetch_card
from credits.payments.stripe.off_session import AUTOMATIC, DECLINED
from credits.payments.stripe.payloads import (
    Payload,
    find_account,
    find_order,
    get_int,
    get_object,
    get_text,
)

logger = logging.getLogger(__name__)


def fetch_session_card(session: Payload) -> SavedCard | None:
    """Return the card to save. If Stripe doesn't respond, the order doesn't wait."""
    mode, setup = get_text(session, "mode"), get_text(session, "setup_intent")
    if find_account(session) is None:
        return None
    if mode == "setup" and setup:
        return fetch_card("setup_intents", setup)
    if session.get("payment_status") != "paid":
        return None
    order = find_order(session)
    subscription, payment = get_text(session, "subscription"), get_text(session, "payment_intent")
    with suppress(PaymentUnavailable):
        if mode == "subscription" and subscription:
            return fetch_card("subscriptions", subscription)
        if mode == "payment" and payment and order is not None and order.saves_card:
            return fetch_card("payment_intents", payment)
    return None


def on_card_entered(session: Payload) -> None:
    account, card = find_account(session), session.get("card")
    if account is not None and card is not None:
        subscription = get_text(session, "subscription")
        cards.save_card(account=account, new=card, provider_subscription=subscription)


def on_card_updated(method: Payload) -> None:
    card = SavedCard.objects.filter(provider_card=get_text(method, "id") or "none").first()
    details = get_object(method, "card")
    month, year = get_int(details, "exp_month"), get_int(details, "exp_year")
    last_four = get_text(details, "last4")
    if card is None or not (month and year and len(last_four) == 4):
        return
    if month <= 12 and year < 10_000:
        card.expires_month, card.expires_year, card.last_four = month, year, last_four
        card.save(update_fields=["expires_month", "expires_year", "last_four"])


def on_card_detached(method: Payload) -> None:
    cards.forget_detached_card(get_text(method, "id"))


def on_payment_succeeded(intent: Payload) -> None:
    """Checkout's payments have other events."""
    order, intent_id = find_order(intent), get_text(intent, "id")
    if order is None or not intent_id or not _is_automatic(intent, order):
        return
    paid = (get_int(intent, "amount_received"), get_text(intent, "currency").upper())
    if paid != (order.total_cents, order.currency):
        logger.error("Stripe: payment doesn't match order %s: %s", order.public_id, paid)
        return
    record_payment(order, intent_id)
    order.refresh_from_db()
    if order.provider_payment != intent_id:
        logger.error("Stripe: order %s was paid twice, in %s", order.public_id, intent_id)
        audit.record(order.account, None, "order.paid_twice", f"{order}: {intent_id}")


def on_payment_failed(intent: Payload) -> None:
    """Email a link to pay, once per order."""
    order = find_order(intent)
    if order is None or not order.is_pending:
        return
    if _is_automatic(intent, order):
        error = get_object(intent, "last_payment_error")
        orders.record_failed(order, get_text(error, "code") or DECLINED)
        return
    first = Order.objects.pending().filter(pk=order.pk, payment_failed_at=None)
    if first.update(payment_failed_at=timezone.now()):
        audit.record(order.account, None, "order.payment_failed", str(order))
        emails.queue_order_payment_failed(order=order)


def _is_automatic(intent: Payload, order: Order) -> bool:
    is_marked = bool(get_text(get_object(intent, "metadata"), AUTOMATIC))
    return is_marked and hasattr(order, "automatic")
