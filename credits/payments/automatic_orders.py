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
from credits.payments.off_session import Status

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 3.0
# The account's and the worker's delay after a failed request.
RETRY_AFTER = timedelta(minutes=1)


class _Schedule:
    next_at = 0.0

    @classmethod
    def is_due(cls) -> bool:
        if time.monotonic() < cls.next_at:
            return False
        cls.next_at = time.monotonic() + INTERVAL_SECONDS
        return True


def pay_automatic_orders(*, is_stopping: Callable[[], bool]) -> None:
    if not settings.STRIPE_SECRET_KEY or not _Schedule.is_due():
        return
    if not pay_due_orders(is_stopping):
        _Schedule.next_at = time.monotonic() + RETRY_AFTER.total_seconds()


def pay_due_orders(is_stopping: Callable[[], bool] = lambda: False) -> bool:
    """Return False if Stripe is unavailable."""
    while not is_stopping():
        top_up = AutomaticTopUp.objects.claim()
        if top_up is None:
            break
        try:
            is_decided = _place_and_pay(top_up)
        except PaymentUnavailable:
            _release(top_up, retry_after=RETRY_AFTER)
            return False
        except DatabaseError:
            # The lease expires.
            raise
        except Exception:
            logger.exception("Failed to top up %s", top_up.account.public_id)
            is_decided = False
        _release(top_up, retry_after=None if is_decided else RETRY_AFTER)
    return True


def _release(top_up: AutomaticTopUp, retry_after: timedelta | None) -> None:
    changes: dict[str, object] = {"attempts": 0}
    if retry_after is not None:
        changes["next_attempt_at"] = timezone.now() + retry_after
    top_up.release(**changes)


def _place_and_pay(top_up: AutomaticTopUp) -> bool:
    """Return False if the payment hasn't ended."""
    if top_up.open_order is not None:
        return _pay(top_up, top_up.open_order.automatic)
    if not _close_unpaid_orders(top_up):
        return False
    automatic = orders.place_order(top_up)
    if automatic is None:
        return True
    top_up.open_order = automatic.order
    return _pay(top_up, automatic)


def _close_unpaid_orders(top_up: AutomaticTopUp) -> bool:
    """Return False if a replaced order was paid, as its event reports."""
    if rules.find_obstacle(top_up) is not None:
        return True
    from credits.payments.stripe import Stripe

    unpaid = orders.unpaid_orders(top_up.account)
    return all(Stripe().close(order) for order in unpaid)


def _pay(top_up: AutomaticTopUp, automatic: AutomaticOrder) -> bool:
    # Stripe's library is large.
    from credits.payments import stripe_off_session as stripe

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
