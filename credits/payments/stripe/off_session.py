"""Charge a saved card while the customer is away.

A payment is created, stored by id, then confirmed, which charges the card at most once: after a
crash or without a response, ask Stripe about the payment and continue.
"""

from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any

import stripe

from credits.models import AutomaticOrder
from credits.payments.stripe.client import get_client, handle_stripe_errors

# Marks automatic payments, as Checkout's payments name their order, too.
AUTOMATIC = "automatic_top_up"
DECLINED = "card_declined"


class Status(StrEnum):
    # Created, but not confirmed.
    READY = auto()
    PAID = auto()
    FAILED = auto()
    # The bank hasn't decided.
    OPEN = auto()
    CANCELED = auto()


@dataclass(frozen=True)
class Payment:
    intent: str
    status: Status
    failure: str = ""


_STATUSES = {
    "requires_confirmation": Status.READY,
    "succeeded": Status.PAID,
    "processing": Status.OPEN,
    "canceled": Status.CANCELED,
}


@handle_stripe_errors
def find_or_create_payment(automatic: AutomaticOrder, customer: str) -> Payment:
    """Creating the payment doesn't charge the card yet."""
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
        # For example, the card was detached.
        return Payment("", Status.FAILED, DECLINED)


@handle_stripe_errors
def confirm_payment(automatic: AutomaticOrder) -> Payment:
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
    """Make sure that the card is never charged, unless it was before."""
    api = get_client().v1.payment_intents
    try:
        return _read(api.cancel(intent))
    except stripe.InvalidRequestError:
        return _read(api.retrieve(intent))


def _read(intent: Any) -> Payment:
    status = _STATUSES.get(intent.status, Status.FAILED)
    if status != Status.FAILED:
        return Payment(str(intent.id), status)
    # Declined, or the customer has to confirm.
    error = getattr(intent, "last_payment_error", None)
    code = getattr(error, "code", None) or DECLINED
    return Payment(str(intent.id), status, str(code))
