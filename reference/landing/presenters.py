"""What the landing page says about prices, and about a visitor's check."""

from collections.abc import Iterable
from typing import NamedTuple

from credits.models import Pack, Plan
from credits.presenters.prices import CardPrice, card_price, plan_credits
from engine import Finding, explain_result
from reference.landing.visitor_checks import (
    MACHINE_PER_SECOND,
    NETWORK_PER_DAY,
    NETWORK_PER_MINUTE,
    TooManyChecks,
)

_LIMITS = {
    NETWORK_PER_MINUTE: f"You can make {NETWORK_PER_MINUTE.checks} checks per minute here.",
    NETWORK_PER_DAY: f"You can make {NETWORK_PER_DAY.checks} checks per day here.",
    MACHINE_PER_SECOND: "Too many visitors are checking addresses. Try again in a few seconds.",
}


class PriceCard(NamedTuple):
    name: str
    price: CardPrice
    facts: list[str]
    # For the slider from a volume to a price.
    credits: int
    cents: int
    is_recommended: bool = False


def plan_cards(plans: Iterable[Plan]) -> list[PriceCard]:
    plans = list(plans)
    # The one in the middle: room to grow from it, and back.
    recommended = plans[len(plans) // 2] if len(plans) > 2 else None
    return [
        PriceCard(
            plan.name,
            card_price(plan),
            [plan_credits(plan), _limit(plan)],
            plan.monthly_credits,
            plan.price_cents,
            plan == recommended,
        )
        for plan in plans
    ]


def pack_cards(packs: Iterable[Pack]) -> list[PriceCard]:
    return [
        PriceCard(str(pack), card_price(pack), [_limit(pack)], pack.credits, pack.price_cents)
        for pack in packs
    ]


def _limit(item: Plan | Pack) -> str:
    return f"{item.requests_per_minute:,} requests per minute"


def describe_reason(finding: Finding) -> str:
    """Describe the reason. For invalid syntax, say what is wrong with the address."""
    if finding.syntax_problem is not None:
        return finding.syntax_problem.message
    return explain_result(finding.reason, finding.did_you_mean).means


def describe_limit(refusal: TooManyChecks) -> str:
    return _LIMITS.get(
        refusal.limit, "Your network has checked too many addresses. Try again later."
    )
