"""The card that an account has saved: agree, save, replace, remove.

Changes reach the provider after the commit, or with the daily job if it was unavailable.
"""

from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits.automatic_top_ups.services import resume
from credits.models import CARD_CONSENT, CardToDetach, SavedCard
from credits.payments import try_sync
from credits.plans import subscriptions


@dataclass(frozen=True)
class NewCard:
    """A card that a customer has entered at the provider."""

    provider_card: str
    provider_customer: str
    brand: str
    last_four: str
    expires_month: int
    expires_year: int


def record_consent(*, account: Account, actor: User, ip: str | None = None) -> None:
    audit.record(account, actor, "card.agreed", CARD_CONSENT, ip)


@transaction.atomic
def save_card(*, account: Account, new: NewCard, provider_subscription: str = "") -> None:
    """Save a card in place of the former one. Safe to repeat.

    `provider_subscription`: the one that the provider renews with this card already.
    """
    subscription = subscriptions.lock_subscription(account)
    former = SavedCard.objects.filter(account=account).first()
    if former is not None and former.provider_card == new.provider_card:
        return
    if not subscription.account.is_open:
        _detach(account, new.provider_card)
        return
    if former is not None:
        _detach(account, former.provider_card)
    # A card that is saved again must not be detached by a request from before.
    CardToDetach.objects.filter(provider_card=new.provider_card).delete()
    values = {
        **asdict(new),
        "saved_at": timezone.now(),
        # Nothing to renew, or renewed with this card.
        "pays_renewals": subscription.provider_subscription in ("", provider_subscription),
    }
    card, _ = SavedCard.objects.update_or_create(account=account, defaults=values)
    audit.record(account, None, "card.saved", str(card))
    resume(account)


@transaction.atomic
def remove_card(*, account: Account, actor: User | None, ip: str | None = None) -> bool:
    """Remove the card, here and at the provider. Returns False if there is none."""
    subscriptions.lock_subscription(account)
    card = SavedCard.objects.filter(account=account).first()
    if card is None:
        return False
    _detach(account, card.provider_card)
    card.delete()
    audit.record(account, actor, "card.removed", str(card), ip)
    return True


def forget_card(*, account: Account) -> None:
    """Remove the card of an account that is erased. A hook."""
    remove_card(account=account, actor=None)


@transaction.atomic
def forget_detached_card(provider_card: str) -> None:
    """Remove a card that was detached at the provider."""
    cards = SavedCard.objects.filter(provider_card=provider_card or "none")
    card = cards.select_related("account").first()
    if card is None:
        return
    subscriptions.lock_subscription(card.account)
    # By now a member may have removed or replaced it.
    deleted, _ = cards.delete()
    if deleted:
        audit.record(card.account, None, "card.removed", str(card))


def _detach(account: Account, provider_card: str) -> None:
    CardToDetach.objects.get_or_create(provider_card=provider_card, defaults={"account": account})
    transaction.on_commit(lambda: try_sync(account))
