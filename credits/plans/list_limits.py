"""How large lists may be: the highest limit of plan and paid packs."""

from dataclasses import dataclass

from django.db.models import Max

from accounts.models import Account
from credits.models import OrderKind, OrderState, Subscription


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
        max(plan.list_addresses, packs["addresses"] or 0),
        max(plan.list_bytes, packs["bytes"] or 0),
    )
