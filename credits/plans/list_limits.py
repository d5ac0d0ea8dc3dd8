"""How large lists may be: the highest limit of plan and paid packs."""

from dataclasses import dataclass

from django.db.models import Max

from accounts.models import Account
from credits.models import OrderKind, OrderState, Subscription
from credits.models.catalog import FREE


@dataclass(frozen=True, slots=True)
class ListLimits:
    # Distinct addresses in one list.
    addresses: int
    # In all unfinished lists.
    bytes: int


def list_limits(account: Account) -> ListLimits:
    plan = Subscription.objects.select_related("plan").get(account=account).plan
    packs = account.orders.filter(state=OrderState.PAID, kind=OrderKind.PACK).aggregate(
        addresses=Max("pack__list_addresses"), bytes=Max("pack__list_bytes")
    )
    return ListLimits(
        max(plan.list_addresses, packs["addresses"] or 0), max(plan.list_bytes, packs["bytes"] or 0)
    )


def is_free(account: Account) -> bool:
    """Return whether the account has the Free plan, and has never bought a pack."""
    subscriptions = Subscription.objects.filter(account=account, plan__code=FREE)
    packs = account.orders.filter(state=OrderState.PAID, kind=OrderKind.PACK)
    return subscriptions.exists() and not packs.exists()
