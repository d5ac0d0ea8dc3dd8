"""How orders are paid: one file a method, and nobody else knows a provider.

An order remembers its method. Whoever learns that an order was paid calls `orders.fulfil_order`.
"""

from typing import Protocol

from django.conf import settings

from credits.models import Order, Subscription


class PaymentUnavailable(Exception):
    """The provider did not answer, or refused; the text is for the person who tried."""


class PaymentMethod(Protocol):
    def begin(self, order: Order) -> None:
        """Makes ready what the customer needs to pay. May be called again."""

    def give_back(self, order: Order) -> None:
        """Sends the money back. May be called again."""

    def follow_plan(self, subscription: Subscription) -> None:
        """Where the provider renews by itself: from now on, what the plan says."""


def method_of(order: Order) -> PaymentMethod:
    return _method(order.method)


def follow_plan(subscription: Subscription) -> None:
    if subscription.renews_itself and settings.STRIPE_SECRET_KEY:
        _method(Order.Method.STRIPE).follow_plan(subscription)


def end_what_is_over() -> None:
    """A job of the day: no provider goes on charging for what has ended here."""
    if settings.STRIPE_SECRET_KEY:
        from credits.payments.stripe import end_what_is_over as end_at_stripe

        end_at_stripe()


def _method(name: str) -> PaymentMethod:
    # The provider's library is large: who never asks for it never loads it.
    if name == Order.Method.STRIPE:
        from credits.payments.stripe import Stripe

        return Stripe()
    from credits.payments.invoice import Invoice

    return Invoice()
