"""Charge a saved card at Stripe while the customer is away.

A payment is created first and confirmed in a second request, and its id is stored in between. Only
the confirmation charges the card, and one payment is charged at most once. So a process that dies,
or that gets no response, asks Stripe what became of the payment and continues.
"""

from typing import Any

import stripe

from credits.models import AutomaticOrder
from credits.payments.off_session import Payment, Status
from credits.payments.stripe_client import get_client, handle_stripe_errors

# Marks the payments of automatic orders. Checkout's payments name their order, too.
AUTOMATIC = "automatic_top_up"
DECLINED = "card_declined"


_STATUSES = {
    "requires_confirmation": Status.READY,
    "succeeded": Status.PAID,
    "processing": Status.OPEN,
    "canceled": Status.CANCELED,
}


@handle_stripe_errors
def find_or_create_payment(automatic: AutomaticOrder, customer: str) -> Payment:
    """Return the order's payment. A new one doesn't charge the card yet."""
    api, order = get_client().v1.payment_intents, automatic.order
    if automatic.provider_intent:
        return _read(api.retrieve(automatic.provider_intent))
    params = {
        "amount": order.total_cents,
        "currency": order.currency.lower(),
        "customer": customer,
        "payment_method": automatic.provider_card,
        "payment_method_types": ["card"],
        "description": order.description,
        "metadata": {"order": order.public_id, AUTOMATIC: "yes"},
    }
    try:
        return _read(api.create(params, {"idempotency_key": f"pay-{order.public_id}"}))
    except stripe.InvalidRequestError:
        # For example, the card was detached at Stripe.
        return Payment("", Status.FAILED, DECLINED)


@handle_stripe_errors
def confirm_payment(automatic: AutomaticOrder) -> Payment:
    """Charge the card, or return how the payment ended before."""
    api, intent = get_client().v1.payment_intents, automatic.provider_intent
    key = f"confirm-{automatic.order.public_id}"
    try:
        return _read(api.confirm(intent, {"off_session": True}, {"idempotency_key": key}))
    except stripe.CardError as error:
        return Payment(intent, Status.FAILED, error.code or DECLINED)
    except stripe.InvalidRequestError:
        payment = _read(api.retrieve(intent))
        if payment.status == Status.READY:
            return Payment(intent, Status.FAILED, DECLINED)
        return payment


@handle_stripe_errors
def cancel_payment(intent: str) -> Payment:
    """Make sure that the card is never charged, or return how the payment ended before."""
    api = get_client().v1.payment_intents
    try:
        return _read(api.cancel(intent))
    except stripe.InvalidRequestError:
        return _read(api.retrieve(intent))


def _read(intent: Any) -> Payment:
    status = _STATUSES.get(intent.status, Status.FAILED)
    if status != Status.FAILED:
        return Payment(str(intent.id), status)
    # Declined, or the bank asks the customer to confirm.
    error = getattr(intent, "last_payment_error", None)
    code = getattr(error, "code", None) or DECLINED
    return Payment(str(intent.id), status, str(code))
