"""Which plan costs least for the credits that an account used in a month."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from math import inf
from typing import NamedTuple

from django.utils import timezone

from credits.models import Pack, Plan, Subscription


class Recommendation(NamedTuple):
    plan: Plan
    # Including packs for the credits that the plan lacks.
    cents: float
    current_cents: float


def recommend_plan(
    subscription: Subscription,
    used: int,
    balance: int,
    plans: Iterable[Plan],
    packs: Iterable[Pack],
) -> Recommendation | None:
    """Return None if no plan is cheaper, a higher one is needless, or a lower one too early."""
    current, largest_first = subscription.next_plan, sorted(packs, key=lambda pack: -pack.credits)
    costs = {
        plan: plan.price_cents + find_pack_cost(used - plan.monthly_credits, largest_first)
        for plan in (current, *plans)
    }
    # Of several, the first: the current plan.
    best = min(costs, key=lambda plan: costs[plan])
    is_new = timezone.now().date() - subscription.started_on < timedelta(days=30)
    is_needless = balance >= used if best.price_cents > current.price_cents else is_new
    if costs[best] == costs[current] or costs[current] == inf or is_needless:
        return None
    return Recommendation(best, costs[best], costs[current])


def find_pack_cost(credits: int, largest_first: Sequence[Pack]) -> float:
    """Return the lowest price of packs with at least that many credits."""
    if credits <= 0 or not largest_first:
        return 0 if credits <= 0 else inf
    pack, *smaller = largest_first
    count, rest = divmod(credits, pack.credits)
    filled_up = count * pack.price_cents + find_pack_cost(rest, smaller)
    return min((count + bool(rest)) * pack.price_cents, filled_up, find_pack_cost(credits, smaller))
