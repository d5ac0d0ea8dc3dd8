"""Read events, and find the rows they are about.

Values of an unexpected type or size count as missing.
"""

import logging
import re
from typing import Any

from accounts.models import Account
from credits.models import Order, ProviderCancellation, Subscription
from credits.payments.stripe.checkout import find_invoice_for_payment

logger = logging.getLogger(__name__)

# As long as our columns.
MAX_ID_LENGTH = 100
MAX_URL_LENGTH = 2_000
# How long to retry EventTooEarly.
MAX_WAIT_SECONDS = 24 * 3600

Payload = dict[str, Any]


class EventTooEarly(Exception):
    """Raised if the event depends on one that has yet to arrive."""


def get_text(payload: Payload, name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) and len(value) <= MAX_ID_LENGTH else ""


def get_url(payload: Payload, name: str) -> str:
    value = payload.get(name)
    if not isinstance(value, str) or len(value) > MAX_URL_LENGTH:
        return ""
    return value if re.fullmatch(r"https?://\S+", value) else ""


def get_int(payload: Payload, name: str) -> int | None:
    value = payload.get(name)
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if fits else None


def get_object(payload: Payload, name: str) -> Payload:
    value = payload.get(name)
    return value if isinstance(value, dict) else {}


def find_order(payload: Payload) -> Order | None:
    order_id = get_text(get_object(payload, "metadata"), "order")
    return Order.objects.select_related("account").filter(public_id=order_id or "none").first()


def find_account(payload: Payload) -> Account | None:
    # Older API versions don't nest them in `parent`.
    details = get_object(get_object(payload, "parent") or payload, "subscription_details")
    stripe_id = get_text(payload, "subscription") or get_text(details, "subscription") or "none"
    active = Subscription.objects.filter(provider_subscription=stripe_id)
    canceled = ProviderCancellation.objects.filter(provider_subscription=stripe_id)
    found = active.first() or canceled.first() or find_order(payload) or find_order(details)
    if found is not None:
        return found.account
    # A page that saves a card names the account.
    account_id = get_text(get_object(payload, "metadata"), "account") or "none"
    return Account.objects.filter(public_id=account_id).first()


def get_payment_intent(invoice: Payload) -> str:
    """Newer API versions nest the payment in `payments`."""
    payments = get_object(invoice, "payments").get("data")
    first = payments[0] if isinstance(payments, list) and payments else {}
    payment = get_object(first, "payment") if isinstance(first, dict) else {}
    return get_text(invoice, "payment_intent") or get_text(payment, "payment_intent")


def find_invoice(charge: Payload) -> str:
    """Ask Stripe only about unknown payments."""
    payment = get_text(charge, "payment_intent")
    if not payment or not is_known_customer(charge) or find_order(charge):
        return ""
    if Order.objects.filter(provider_payment=payment).exists():
        return ""
    return str(find_invoice_for_payment(payment))


def is_known_customer(charge: Payload) -> bool:
    customer = get_text(charge, "customer")
    return bool(customer) and Subscription.objects.filter(provider_customer=customer).exists()


def find_order_for_charge(charge: Payload) -> Order | None:
    """Return the order, or raise EventTooEarly if it may yet arrive."""
    payment, invoice = get_text(charge, "payment_intent"), get_text(charge, "invoice")
    order = find_order(charge)
    if order is not None and order.provider_payment in ("", payment):
        return order
    for field, value in (("provider_payment", payment), ("provider_invoice", invoice)):
        match = Order.objects.filter(**{field: value}).first() if value else None
        if match is not None:
            return match
    if order is None and is_known_customer(charge) and charge["age"] < MAX_WAIT_SECONDS:
        raise EventTooEarly
    # Another sale, or a second payment.
    logger.warning("Stripe: refund of a payment without an order: %s", payment)
    return None
