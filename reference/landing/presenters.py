"""What the landing page says about prices, and about a visitor's check."""

from collections.abc import Iterable
from typing import NamedTuple

from credits.models import Pack, Plan
from credits.presenters.prices import (
    CardPrice,
    card_price,
    highest_rate,
    plan_credits,
    savings_note,
)
from engine import Finding, explain_result
from reference.landing.visitor_checks import (
    MACHINE_PER_SECOND,
    NETWORK_PER_DAY,
    NETWORK_PER_MINUTE,
    TooManyChecks,
)

_LIMITS = {
    NETWORK_PER_MINUTE: f"You can check {NETWORK_PER_MINUTE.checks} addresses per minute here.",
    NETWORK_PER_DAY: f"You can check {NETWORK_PER_DAY.checks} addresses per day here.",
    MACHINE_PER_SECOND: "Too many visitors are checking addresses. Try again in a few seconds.",
}


class PriceCard(NamedTuple):
    name: str
    price: CardPrice
    facts: list[str]


class PriceCards(NamedTuple):
    plans: list[PriceCard]
    packs: list[PriceCard]
    note: str


def describe_prices(plans: Iterable[Plan], packs: Iterable[Pack]) -> PriceCards:
    """Describe plans and packs. Savings are relative to the highest price of a credit."""
    plans, packs = list(plans), list(packs)
    highest = highest_rate([*plans, *packs])
    return PriceCards(
        plans=[
            PriceCard(plan.name, card_price(plan, highest), [plan_credits(plan), _limit(plan)])
            for plan in plans
        ],
        packs=[PriceCard(str(pack), card_price(pack, highest), [_limit(pack)]) for pack in packs],
        note=savings_note(highest) if highest else "",
    )


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
