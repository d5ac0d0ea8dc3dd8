"""A worker stores the order before it sends anything to Stripe: if the worker dies, another asks
Stripe about the payment, and continues.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import transaction
from django.utils import timezone

from credits.automatic_top_ups import orders, rules
from credits.models import AutomaticOrder, AutomaticTopUp, Order, SavedCard
from credits.orders import fulfillment
from credits.payments import PaymentUnavailable

logger = logging.getLogger(__name__)

INTERVAL = timedelta(seconds=3)
# The account's and the worker's delay after a failed request.
RETRY_AFTER = timedelta(minutes=1)

_next_round_at = 0.0


def pay_automatic_orders(*, is_stopping: Callable[[], bool]) -> None:
    global _next_round_at  # noqa: PLW0603
    if settings.STRIPE_SECRET_KEY and time.monotonic() >= _next_round_at:
        delay = INTERVAL if pay_due_orders(is_stopping) else RETRY_AFTER
        _next_round_at = time.monotonic() + delay.total_seconds()


def pay_due_orders(is_stopping: Callable[[], bool] = lambda: False) -> bool:
    """Return False if Stripe is unavailable."""
    while not is_stopping():
        top_up = AutomaticTopUp.objects.claim()
        if top_up is None:
            break
        try:
            is_decided = _place_and_pay(top_up)
        except PaymentUnavailable:
            top_up.release(attempts=0, next_attempt_at=timezone.now() + RETRY_AFTER)
            return False
        except DatabaseError:
            # The lease expires.
            raise
        except Exception:
            logger.exception("Failed to top up %s", top_up.account.public_id)
            is_decided = False
        later = {} if is_decided else {"next_attempt_at": timezone.now() + RETRY_AFTER}
        top_up.release(attempts=0, **later)
    return True


def _place_and_pay(top_up: AutomaticTopUp) -> bool:
    """Return False if the payment hasn't ended."""
    if top_up.open_order is not None:
        return _pay(top_up, top_up.open_order.automatic)
    if rules.find_obstacle(top_up) is None:
        # Stripe's library is large.
        from credits.payments.stripe.checkout import Stripe

        unpaid = orders.unpaid_orders(top_up.account)
        if not all(Stripe().close(order) for order in unpaid):
            # One was paid, as its event reports.
            return False
    automatic = orders.place_order(top_up)
    if automatic is None:
        return True
    top_up.open_order = automatic.order
    return _pay(top_up, automatic)


def _pay(top_up: AutomaticTopUp, automatic: AutomaticOrder) -> bool:
    from credits.payments.stripe import off_session as stripe
    from credits.payments.stripe.off_session import Status

    order, wanted = automatic.order, rules.is_wanted(top_up)
    if not wanted and not automatic.provider_intent:
        # Payments are confirmed after their id is stored, so the card wasn't charged.
        orders.record_abandoned(order)
        return True
    card = SavedCard.objects.filter(provider_card=automatic.provider_card).first()
    payment = stripe.find_or_create_payment(automatic, card.provider_customer if card else "")
    if payment.intent and not automatic.provider_intent:
        automatic.provider_intent = payment.intent
        automatic.save(update_fields=["provider_intent"])
    if payment.status == Status.READY:
        top_up.renew()
        if wanted:
            payment = stripe.confirm_payment(automatic)
        else:
            payment = stripe.cancel_payment(automatic.provider_intent)
    if payment.status == Status.PAID:
        record_payment(order, payment.intent)
    elif payment.status == Status.FAILED:
        orders.record_failed(order, payment.failure)
    elif payment.status == Status.CANCELED:
        orders.record_abandoned(order)
    return payment.status != Status.OPEN


@transaction.atomic
def record_payment(order: Order, intent: str) -> None:
    fulfillment.fulfill_order(order=order, provider_payment=intent)
    orders.record_paid(order)
