"""Other packages don't know the payment provider."""

import logging
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from accounts.models import Account, User
from credits.models import (
    CardToDetach,
    Order,
    OrderMethod,
    ProviderCancellation,
    SavedCard,
    Subscription,
)
from runtime.http.refusals import Refused

if TYPE_CHECKING:
    from credits.payments.stripe.checkout import Stripe

logger = logging.getLogger(__name__)


class PaymentUnavailable(Refused):
    """Raised with a text for the user if the provider refuses or doesn't respond."""


def get_provider(order: Order) -> "Stripe | None":
    """Return None for an invoice, whose money staff receive and return themselves."""
    # Stripe's library is large. Import it only if it is used.
    if order.method == OrderMethod.STRIPE:
        from credits.payments.stripe.checkout import Stripe

        return Stripe()
    return None


def open_card_page(account: Account) -> str:
    from credits.payments.stripe import cards

    return cards.open_card_page(account)


def sync_with_provider(account: Account) -> None:
    """Send changes of plan and card to the provider. Idempotent."""
    if settings.STRIPE_SECRET_KEY:
        from credits.payments.stripe.cards import sync_cards
        from credits.payments.stripe.checkout import sync_with_stripe

        sync_with_stripe(account)
        sync_cards(account)


def sync_with_provider_on_commit(*, account: Account, actor: User) -> None:
    transaction.on_commit(lambda: try_sync(account))


def sync_all_with_provider() -> None:
    renewing = Subscription.objects.exclude(provider_subscription="").values("account")
    canceling = ProviderCancellation.objects.values("account")
    detaching = CardToDetach.objects.values("account")
    replacing = SavedCard.objects.filter(pays_renewals=False).values("account")
    changed = renewing.union(canceling, detaching, replacing)
    for account in Account.objects.filter(pk__in=changed):
        try_sync(account)


def try_sync(account: Account) -> None:
    try:
        sync_with_provider(account)
    except PaymentUnavailable:
        logger.warning("Failed to sync %s with the payment provider", account.public_id)
