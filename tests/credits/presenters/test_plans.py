"""What pages say about the plan of an account, and about the plans it can choose."""

from datetime import date

import pytest

from accounts.models import Account
from credits.models import Plan, Subscription
from credits.presenters.plans import (
    NO_FREE_CREDITS,
    describe_plan_change,
    included_credits,
    next_dates,
    plan_card,
    plan_notice,
)

ACCOUNT = Account(pk=1, name="The Shop")
PLANS = [
    Plan(pk=number, code=name.lower(), name=name, price_cents=cents, monthly_credits=credits)
    for number, name, cents, credits in (
        (1, "Free", 0, 100),
        (2, "Starter", 900, 2_000),
        (3, "Growth", 1_900, 5_000),
    )
]
for plan in PLANS:
    plan.requests_per_minute = 60
FREE, STARTER, GROWTH = PLANS
TODAY, LATER = date(2026, 11, 20), date(2026, 12, 1)


def subscription(
    plan: Plan, next_plan: Plan | None = None, *, gets_free_credits: bool = True, provider: str = ""
) -> Subscription:
    return Subscription(
        account=ACCOUNT,
        plan=plan,
        next_plan=next_plan or plan,
        started_on=TODAY,
        topped_up_until=LATER,
        covered_until=None if plan.is_free else LATER,
        gets_free_credits=gets_free_credits,
        provider_subscription=provider,
    )


@pytest.mark.django_db
def test_included_credits_depend_on_the_plan_and_the_mailbox() -> None:
    assert included_credits(subscription(GROWTH)) == "5,000 credits each month."
    topped_up = "Your balance is topped up to 100 credits each month."
    assert included_credits(subscription(FREE)) == topped_up
    unlucky = subscription(FREE, gets_free_credits=False)
    assert included_credits(unlucky) == NO_FREE_CREDITS
    assert next_dates(unlucky, None, is_due=False) == []


def test_next_dates_say_until_when_the_plan_is_paid() -> None:
    paid = "Paid until 1 Dec 2026"
    for shown, sentence in (
        (subscription(FREE), "Next top-up on 1 Dec 2026."),
        (subscription(GROWTH), f"{paid}."),
        (subscription(GROWTH, provider="sub_1"), f"{paid}, then renews automatically."),
        (subscription(GROWTH, STARTER, provider="sub_1"), f"{paid}."),
    ):
        assert next_dates(shown, None, is_due=False) == [sentence]
    due = next_dates(subscription(GROWTH), None, is_due=True)
    assert due == [f"{paid}. Pay for the next month to keep your plan."]


def test_upcoming_change_is_announced_on_billing_and_plans() -> None:
    shown, change = subscription(GROWTH, STARTER), (LATER, STARTER)
    assert next_dates(shown, change, is_due=False)[1] == "Changes to Starter on 1 Dec 2026."
    notice = plan_notice(shown, change, is_due=False)
    assert notice == "Your plan changes to Starter on 1 Dec 2026."
    assert plan_notice(subscription(GROWTH), None, is_due=False) == ""
    assert "or your plan becomes Free" in plan_notice(shown, change, is_due=True)


def test_each_plan_offers_what_the_account_can_do() -> None:
    paid = "Paid until 1 Dec 2026"
    for shown, is_due, offers in (
        (subscription(FREE), False, ("Next top-up 1 Dec 2026", "Choose Starter", "Choose Growth")),
        (subscription(STARTER), False, ("Change to Free", paid, "Upgrade to Growth")),
        (subscription(GROWTH, FREE), False, ("Starts on 1 Dec 2026", "Change to Starter", paid)),
        (subscription(STARTER), True, ("Change to Free", "Renew Starter", "Choose Growth")),
    ):
        cards = [plan_card(plan, shown, is_due=is_due) for plan in PLANS]
        assert tuple(card.action or card.status for card in cards) == offers


def test_only_paying_for_a_plan_leads_to_the_order_page() -> None:
    urls = [plan_card(plan, subscription(STARTER), is_due=False).url for plan in PLANS]
    assert urls == ["/credits/plans/free/later/", "", "/credits/plans/growth/"]


def test_lower_plan_says_what_it_changes_and_keeping_a_plan_changes_nothing() -> None:
    kept = describe_plan_change(GROWTH, subscription(GROWTH, STARTER))
    assert (kept.action, kept.consequences) == ("Keep Growth", [])
    for plan, consequence in (
        (FREE, "From then on, your balance is topped up to 100 credits each month."),
        (STARTER, "From then on, you get 2,000 credits for $9.00 each month."),
    ):
        change = describe_plan_change(plan, subscription(GROWTH))
        assert change.action == f"Change to {plan}"
        assert change.intro == "Growth is paid until 1 Dec 2026. Your plan changes after that."
        assert change.consequences[0] == consequence
