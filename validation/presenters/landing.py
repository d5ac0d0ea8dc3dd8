"""Say what the landing page shows: prices, and the outcome of a visitor's check. Pure."""

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from credits.models import Pack, Plan
from credits.presenters.prices import format_price
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


class PriceRow(NamedTuple):
    name: str
    price: str
    credits: str
    per_thousand: str
    requests_per_minute: str


def plan_rows(plans: Iterable[Plan]) -> list[PriceRow]:
    return [
        PriceRow(
            plan.name,
            format_price(plan.price_cents),
            f"up to {plan.monthly_credits:,}" if plan.is_free else f"{plan.monthly_credits:,}",
            price_per_thousand(plan.price_cents, plan.monthly_credits),
            f"{plan.requests_per_minute:,}",
        )
        for plan in plans
    ]


def pack_rows(packs: Iterable[Pack]) -> list[PriceRow]:
    return [
        PriceRow(
            str(pack),
            format_price(pack.price_cents),
            f"{pack.credits:,}",
            price_per_thousand(pack.price_cents, pack.credits),
            f"{pack.requests_per_minute:,}",
        )
        for pack in packs
    ]


def price_per_thousand(cents: int, credits: int) -> str:
    rounded = (Decimal(cents) * 1000 / credits).quantize(Decimal(1), ROUND_HALF_UP)
    return format_price(int(rounded))


def describe_reason(finding: Finding) -> str:
    """Return the reason in words. For invalid syntax, say what is wrong with the address."""
    if finding.syntax_problem is not None:
        return finding.syntax_problem.message
    return MEANINGS[finding.reason].means


def describe_limit(refusal: TooManyChecks) -> str:
    return _LIMITS[refusal.limit]
