from dataclasses import dataclass
from datetime import date

from django.urls import reverse

from accounts.date_display import date_format
from credits.models import Plan, Subscription
from credits.money import format_credits
from credits.plans.recommendation import Recommendation
from credits.presenters.prices import format_price

NO_FREE_CREDITS = (
    "No monthly credits: your mailbox already gets them in another account. "
    "Make a purchase to get them here, too."
)

Change = tuple[date, Plan]


def included_credits(subscription: Subscription) -> str:
    plan = subscription.plan
    amount = format_credits(plan.monthly_credits)
    if not plan.is_free:
        return f"{amount} each month."
    if subscription.gets_top_ups:
        return f"Your balance is topped up to {amount} each month."
    return NO_FREE_CREDITS


def next_dates(subscription: Subscription, upcoming: Change | None, *, is_due: bool) -> list[str]:
    dates = []
    if not subscription.plan.is_free:
        is_renewed = subscription.renews_automatically
        paid = f"Paid until {_covered_until(subscription)}"
        if is_due:
            paid += ". Pay for the next month to keep your plan"
        elif is_renewed and subscription.next_plan == subscription.plan:
            paid += ", then renews automatically"
        dates.append(f"{paid}.")
    elif subscription.gets_top_ups:
        dates.append(f"Next top-up on {date_format(subscription.topped_up_until)}.")
    if upcoming:
        dates.append(f"Changes to {upcoming[1]} on {date_format(upcoming[0])}.")
    return dates


def plan_notice(subscription: Subscription, upcoming: Change | None, *, is_due: bool) -> str:
    """Return what happens next, or nothing if the plan continues."""
    if is_due:
        return (
            f"{subscription.plan} was paid until {_covered_until(subscription)}. "
            "Choose a plan and pay for the next month, or your plan becomes Free."
        )
    return f"Your plan changes to {upcoming[1]} on {date_format(upcoming[0])}." if upcoming else ""


def describe_recommendation(found: Recommendation, current: Plan, used: int) -> tuple[str, str]:
    """Return a headline, and how its saving is calculated."""
    costs = " instead of ".join(
        f"{format_price(int(cents))} with {plan}{' and packs' * (used > plan.monthly_credits)}"
        for plan, cents in ((found.plan, found.cents), (current, found.current_cents))
    )
    saving = format_price(int(found.current_cents - found.cents))
    text = f"You used {format_credits(used)} in the last 30 days. As many cost {costs}."
    return f"{found.plan} saves {saving} per month", text


@dataclass(frozen=True)
class PlanCard:
    status: str = ""
    action: str = ""
    url: str = ""


def plan_card(plan: Plan, subscription: Subscription, *, is_due: bool) -> PlanCard:
    if verb := _order_verb(plan, subscription, is_due=is_due):
        url = reverse("credits:order-plan", args=[plan.code])
        return PlanCard(action=f"{verb} {plan}", url=url)
    if plan not in (subscription.plan, subscription.next_plan):
        url = reverse("credits:choose-later-plan", args=[plan.code])
        return PlanCard(action=f"Change to {plan}", url=url)
    return PlanCard(_plan_status(plan, subscription))


def _order_verb(plan: Plan, subscription: Subscription, *, is_due: bool) -> str:
    """Return the link's verb, or nothing if the plan can't be ordered."""
    current = subscription.plan
    if is_due and not plan.is_free:
        return "Renew" if plan == current else "Choose"
    if plan.price_cents <= current.price_cents:
        return ""
    return "Choose" if current.is_free else "Upgrade to"


def _plan_status(plan: Plan, subscription: Subscription) -> str:
    if plan != subscription.plan:
        return f"Starts on {_covered_until(subscription)}"
    if not plan.is_free:
        return f"Paid until {_covered_until(subscription)}"
    if subscription.gets_top_ups:
        return f"Next top-up {date_format(subscription.topped_up_until)}"
    return ""


@dataclass(frozen=True)
class PlanChange:
    """The question whether to keep a plan or change to a lower one."""

    action: str
    intro: str
    consequences: list[str]


def describe_plan_change(plan: Plan, subscription: Subscription) -> PlanChange:
    if plan == subscription.plan:
        intro = f"It continues as before, for {format_price(plan.price_cents)} per month."
        return PlanChange(f"Keep {plan}", intro, [])
    until, amount = _covered_until(subscription), format_credits(plan.monthly_credits)
    credits = f"you get {amount} for {format_price(plan.price_cents)} each month"
    if plan.is_free:
        credits = f"your balance is topped up to {amount} each month"
    consequences = [
        f"From then on, {credits}.",
        f"Your rate limit becomes {plan.requests_per_minute:,} requests per minute, unless you "
        "bought a pack with a higher limit.",
        "You keep your credits.",
    ]
    intro = f"{subscription.plan} is paid until {until}. Your plan changes after that."
    return PlanChange(f"Change to {plan}", intro, consequences)


def _covered_until(subscription: Subscription) -> str:
    return date_format(subscription.covered_until) if subscription.covered_until else ""
