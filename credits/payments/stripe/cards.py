from contextlib import suppress
from typing import Any

import stripe

from accounts.emails import link
from accounts.models import Account
from credits.models import CardToDetach, SavedCard, Subscription
from credits.payments.stripe.client import get_client, handle_stripe_errors

_BRANDS = {
    "amex": "American Express",
    "diners": "Diners Club",
    "jcb": "JCB",
    "mastercard": "Mastercard",
    "unionpay": "UnionPay",
    "visa": "Visa",
}


@handle_stripe_errors
def open_card_page(account: Account) -> str:
    session = get_client().v1.checkout.sessions.create(
        {
            "mode": "setup",
            "customer": find_or_create_customer(account),
            "payment_method_types": ["card"],
            "client_reference_id": account.public_id,
            "metadata": {"account": account.public_id},
            "success_url": f"{link('credits:show-billing')}?card=saved",
            "cancel_url": link("credits:show-billing"),
        }
    )
    return str(session.url)


@handle_stripe_errors
def fetch_card(kind: str, stripe_id: str) -> SavedCard | None:
    """Return the card of one of `setup_intents`, `payment_intents` or `subscriptions`."""
    field = "default_payment_method" if kind == "subscriptions" else "payment_method"
    found = getattr(get_client().v1, kind).retrieve(stripe_id, {"expand": [field]})
    return _read_card(getattr(found, field, None))


@handle_stripe_errors
def sync_cards(account: Account) -> None:
    for card in CardToDetach.objects.filter(account=account):
        # Raised if it is detached already.
        with suppress(stripe.InvalidRequestError):
            get_client().v1.payment_methods.detach(card.provider_card)
        card.delete()
    saved = SavedCard.objects.filter(account=account, pays_renewals=False).first()
    if saved is not None:
        _renew_with(saved)


def _renew_with(card: SavedCard) -> None:
    subscription = Subscription.objects.get(account=card.account)
    if subscription.renews_automatically:
        # Raised if subscription or card has ended.
        with suppress(stripe.InvalidRequestError):
            get_client().v1.subscriptions.update(
                subscription.provider_subscription, {"default_payment_method": card.provider_card}
            )
    # No lock is held: there may be another card now.
    same_card = SavedCard.objects.filter(pk=card.pk, provider_card=card.provider_card)
    same_card.update(pays_renewals=True)


def find_or_create_customer(account: Account) -> str:
    """Concurrent requests create only one customer."""
    subscriptions = Subscription.objects.filter(account=account)
    if not subscriptions.exclude(provider_customer="").exists():
        created = get_client().v1.customers.create(
            {"metadata": {"account": account.public_id}},
            {"idempotency_key": f"customer-{account.public_id}"},
        )
        subscriptions.filter(provider_customer="").update(provider_customer=created.id)
    return subscriptions.get().provider_customer


def _read_card(method: Any) -> SavedCard | None:
    """Return a card that isn't saved yet, or None for other payment methods."""
    card = getattr(method, "card", None)
    customer = getattr(method, "customer", None)
    if card is None or not customer:
        return None
    brand = str(card.brand)
    other = "Card" if brand == "unknown" else brand.replace("_", " ").title()[:30]
    return SavedCard(
        provider_card=str(method.id),
        provider_customer=str(customer),
        brand=_BRANDS.get(brand, other),
        last_four=str(card.last4)[:4],
        expires_month=int(card.exp_month),
        expires_year=int(card.exp_year),
    )
