"""How orders are paid: one file a method, and nobody else knows a provider.

An order remembers its method. Whoever learns that an order was paid calls `orders.fulfil_order`.
"""

import logging
from typing import Protocol

from django.conf import settings
from django.db import transaction

from accounts.models import Account, User
from credits.models import Order, ProviderCancellation, Subscription

logger = logging.getLogger(__name__)


class PaymentUnavailable(Exception):
    """The provider did not answer, or refused; the text is for the person who tried."""


class PaymentMethod(Protocol):
    def begin(self, order: Order) -> None:
        """Makes ready what the customer needs to pay. May be called again."""

    def withdraw(self, order: Order) -> None:
        """The order was cancelled: from now on nobody can pay it."""

    def refund(self, order: Order) -> None:
        """Sends the money back. May be called again."""


def method_of(order: Order) -> PaymentMethod:
    # The provider's library is large: who never asks for it never loads it.
    if order.method == Order.Method.STRIPE:
        from credits.payments.stripe import Stripe

        return Stripe()
    from credits.payments.invoice import Invoice

    return Invoice()


def sync_with_provider(account: Account) -> None:
    """Tells the provider that renews plans by itself what has changed here; nothing when it knows.
    May be called at any time."""
    if settings.STRIPE_SECRET_KEY:
        from credits.payments.stripe import sync_with_stripe as catch_up_at_stripe

        catch_up_at_stripe(account)


def sync_with_provider_later(*, account: Account, actor: User) -> None:
    """Seam: an account was closed. As soon as that is certain, no provider charges it again."""
    transaction.on_commit(lambda: _try_to_catch_up(account))


def sync_all_with_provider() -> None:
    """A job of the day: whatever a provider could not be told when it happened."""
    renewing = Subscription.objects.exclude(provider_subscription="").values("account")
    ending = ProviderCancellation.objects.values("account")
    for account in Account.objects.filter(pk__in=renewing.union(ending)):
        _try_to_catch_up(account)


def _try_to_catch_up(account: Account) -> None:
    try:
        sync_with_provider(account)
    except PaymentUnavailable:
        # The day's work tries again; the others are not held up.
        logger.warning("The payment provider was not told about %s", account.public_id)
