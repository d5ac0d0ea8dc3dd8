from dataclasses import dataclass
from datetime import date, timedelta

from credits.models import OrderKind, Plan
from credits.plans.coverage import Coverage, PlanStatus
from credits.plans.periods import Period, month_starting
from runtime.http.refusals import Refused


class OrderRefused(Refused):
    """Raised with a text for the user if an item can't be ordered."""


@dataclass(frozen=True)
class OrderOffer:
    kind: OrderKind
    description: str
    credits: int
    net_cents: int
    period: Period | None = None


def offer_plan(
    plan: Plan, *, coverage: Coverage, status: PlanStatus, started_on: date, day: date
) -> OrderOffer:
    """Offer a first month, a renewal in the grace period, or an upgrade."""
    if plan.is_free:
        raise OrderRefused(
            "You can't buy Free. Your plan changes to Free when your paid plan ends."
        )
    if status.plan is None or status.covered_until is None:
        return OrderOffer(
            OrderKind.PLAN, f"{plan} plan, one month", plan.monthly_credits, plan.price_cents
        )
    if status.is_due:
        return offer_renewal(plan, month_starting(status.covered_until, started_on))
    if plan == status.plan:
        raise OrderRefused(f"You're already on {plan}.")
    if plan.price_cents <= status.plan.price_cents:
        raise OrderRefused(f"{plan} is lower than {status.plan}. Change to it on the Plans page.")
    return _offer_upgrade(plan, status.plan, coverage, day)


def offer_renewal(plan: Plan, month: Period, net_cents: int | None = None) -> OrderOffer:
    """`net_cents` is what a provider was paid."""
    return OrderOffer(
        OrderKind.RENEWAL,
        f"{plan} plan, {month.start:%d %b %Y} to {_format_last_day(month.end)}",
        plan.monthly_credits,
        plan.price_cents if net_cents is None else net_cents,
        month,
    )


def _offer_upgrade(plan: Plan, current: Plan, coverage: Coverage, day: date) -> OrderOffer:
    """Offer the difference in price and credits for all months with a lower plan."""
    until = coverage.lower_until(day, plan)
    covering = coverage.months_between(day, until)
    count = sum(not month.is_upgrade for month in covering)
    net_cents = plan.price_cents * count - sum(month.net_cents for month in covering)
    credits = plan.monthly_credits * count - sum(month.credits for month in covering)
    if net_cents <= 0:
        raise OrderRefused(
            f"You've already paid at least the price of {plan}. Contact support to change to it."
        )
    return OrderOffer(
        OrderKind.UPGRADE,
        f"Upgrade from {current} to {plan} until {_format_last_day(until)}",
        max(0, credits),
        net_cents,
        Period(min(month.start for month in covering), until),
    )


def _format_last_day(end: date) -> str:
    return f"{end - timedelta(days=1):%d %b %Y}"
