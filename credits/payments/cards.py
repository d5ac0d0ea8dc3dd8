"""Changes are synced with the provider after the commit, or daily."""

from django.db import transaction

from accounts import audit
from accounts.models import Account, User
from credits.automatic_top_ups.services import resume
from credits.models import CardToDetach, SavedCard
from credits.payments import try_sync
from credits.plans import subscriptions


@transaction.atomic
def save_card(*, account: Account, new: SavedCard, provider_subscription: str = "") -> None:
    """Replace the account's card. `provider_subscription` is renewed with the new one already."""
    subscription = subscriptions.lock_subscription(account)
    former = SavedCard.objects.filter(account=account).first()
    if former is not None and former.provider_card == new.provider_card:
        return
    if not subscription.account.is_open:
        _detach(account, new.provider_card)
        return
    if former is not None:
        _detach(account, former.provider_card)
    # A card that is saved again must not be detached.
    CardToDetach.objects.filter(provider_card=new.provider_card).delete()
    new.account = account
    # True if there is nothing to renew, or this card renews it.
    new.pays_renewals = subscription.provider_subscription in ("", provider_subscription)
    new.save()
    audit.record(account, None, "card.saved", str(new))
    resume(account)


@transaction.atomic
def remove_card(*, account: Account, actor: User | None) -> bool:
    """Return False if there is no card."""
    subscriptions.lock_subscription(account)
    card = SavedCard.objects.filter(account=account).first()
    if card is None:
        return False
    _detach(account, card.provider_card)
    card.delete()
    audit.record(account, actor, "card.removed", str(card))
    return True


def forget_card(*, account: Account) -> None:
    remove_card(account=account, actor=None)


@transaction.atomic
def forget_detached_card(provider_card: str) -> None:
    cards = SavedCard.objects.filter(provider_card=provider_card or "none")
    card = cards.select_related("account").first()
    if card is None:
        return
    subscriptions.lock_subscription(card.account)
    # A member may have replaced it before the lock was taken.
    deleted, _ = cards.delete()
    if deleted:
        audit.record(card.account, None, "card.removed", str(card))


def _detach(account: Account, provider_card: str) -> None:
    CardToDetach.objects.get_or_create(provider_card=provider_card, defaults={"account": account})
    transaction.on_commit(lambda: try_sync(account))
