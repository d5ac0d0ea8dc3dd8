"""Payment methods, one module each. Other packages don't know the provider.

An order stores its method. A method that learns of a payment calls `fulfillment.fulfill_order`.
"""

import logging
from typing import Protocol

from django.conf import settings
from django.db import transaction

from accounts.models import Account, User
from credits.models import CardToDetach, Order, ProviderCancellation, SavedCard, Subscription

logger = logging.getLogger(__name__)


class PaymentUnavailable(Exception):
    """Raised if the provider refuses or doesn't respond. The text is shown to the user."""


class PaymentMethod(Protocol):
    def begin(self, order: Order) -> None:
        """Prepare the payment, for example its page. Idempotent."""

    def withdraw(self, order: Order) -> None:
        """Prevent the payment of an order that was canceled."""

    def refund(self, order: Order, cents: int) -> None:
        """Return this much, in addition to what was refunded before. Idempotent until recorded."""


def get_payment_method(order: Order) -> PaymentMethod:
    # Stripe's library is large, so it is imported only if it is used.
    if order.method == Order.Method.STRIPE:
        from credits.payments.stripe import Stripe

        return Stripe()
    from credits.payments.invoice import Invoice

    return Invoice()


def open_card_page(account: Account) -> str:
    """Return the URL of the provider's page that saves a card."""
    from credits.payments import stripe_cards

    return stripe_cards.open_card_page(account)


def sync_with_provider(account: Account) -> None:
    """Send an account's changes of plan and card to the payment provider. Idempotent."""
    if settings.STRIPE_SECRET_KEY:
        from credits.payments.stripe import sync_with_stripe
        from credits.payments.stripe_cards import sync_cards

        sync_with_stripe(account)
        sync_cards(account)


def sync_with_provider_on_commit(*, account: Account, actor: User) -> None:
    """Stop the provider's charges once the closing of an account is committed. A hook."""
    transaction.on_commit(lambda: try_sync(account))


def sync_all_with_provider() -> None:
    """Send the provider every change that failed to sync before. A daily job."""
    renewing = Subscription.objects.exclude(provider_subscription="").values("account")
    canceling = ProviderCancellation.objects.values("account")
    detaching = CardToDetach.objects.values("account")
    replacing = SavedCard.objects.filter(pays_renewals=False).values("account")
    changed = renewing.union(canceling, detaching, replacing)
    for account in Account.objects.filter(pk__in=changed):
        try_sync(account)


def try_sync(account: Account) -> None:
    """Send changes to the provider now, or leave them to the daily job."""
    try:
        sync_with_provider(account)
    except PaymentUnavailable:
        # The daily job tries again. One failure must not stop the other accounts.
        logger.warning("Failed to sync %s with the payment provider", account.public_id)
