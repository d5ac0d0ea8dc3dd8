"""How large an account's lists may be: the highest limit of its plan and of the packs it paid for.

The current rows of plans and packs count, so what staff change in them applies to all accounts.
"""

from dataclasses import dataclass

from django.db.models import Max

from accounts.models import Account
from credits.models import Order, Subscription


@dataclass(frozen=True, slots=True)
class ListLimits:
    # Distinct addresses in one list.
    addresses: int
    # Of all unfinished lists together.
    bytes: int


def list_limits(account: Account) -> ListLimits:
    plan = Subscription.objects.select_related("plan").get(account=account).plan
    packs = account.orders.filter(state=Order.State.PAID, kind=Order.Kind.PACK).aggregate(
        addresses=Max("pack__list_addresses"), bytes=Max("pack__list_bytes")
    )
    return ListLimits(
        max(plan.list_addresses, packs["addresses"] or 0),
        max(plan.list_bytes, packs["bytes"] or 0),
    )
