"""Say what the landing page shows: prices, and the outcome of a visitor's check. Pure."""

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
from validation.engine.verdicts.finding import Finding
from validation.engine.verdicts.reason_texts import MEANINGS
from validation.visitor_checks import (
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


class Offer(NamedTuple):
    name: str
    price: CardPrice
    facts: list[str]


class Offers(NamedTuple):
    plans: list[Offer]
    packs: list[Offer]
    note: str


def describe_offers(plans: Iterable[Plan], packs: Iterable[Pack]) -> Offers:
    """Describe all plans and packs, each compared with the most expensive credits."""
    plans, packs = list(plans), list(packs)
    highest = highest_rate([*plans, *packs])
    return Offers(
        plans=[
            Offer(plan.name, card_price(plan, highest), [plan_credits(plan), _limit(plan)])
            for plan in plans
        ],
        packs=[Offer(str(pack), card_price(pack, highest), [_limit(pack)]) for pack in packs],
        note=savings_note(highest) if highest else "",
    )


def _limit(item: Plan | Pack) -> str:
    return f"{item.requests_per_minute:,} requests per minute"


def describe_reason(finding: Finding) -> str:
    """Return the reason in words. For invalid syntax, say what is wrong with the address."""
    if finding.syntax_problem is not None:
        return finding.syntax_problem.message
    return MEANINGS[finding.reason].means


def describe_limit(refusal: TooManyChecks) -> str:
    return _LIMITS[refusal.limit]
