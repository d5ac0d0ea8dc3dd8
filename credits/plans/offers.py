"""Compute the offer for a pack or a plan to an account: price, credits, and period."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from django.conf import settings
from django.utils import timezone

from credits.models import Order, Pack, Plan, Subscription
from credits.money import with_tax
from credits.periods import Period
from credits.plans import subscriptions
from credits.plans.coverage import month_starting

Kind, State, Method = Order.Kind, Order.State, Order.Method


class OrderRefused(Exception):
    """Raised if an item can't be ordered. The text is shown to the user."""


@dataclass(frozen=True)
class Offer:
    """The terms on which an account can order a pack or a plan today."""

    kind: Order.Kind
    description: str
    credits: int
    net_cents: int
    # Upgrades and renewals only: the period they are sold for.
    month: Period | None = None


def make_offer(item: Pack | Plan, subscription: Subscription) -> Offer:
    if isinstance(item, Pack):
        return Offer(Kind.PACK, str(item), item.credits, item.price_cents)
    status = subscriptions.current_status(subscription)
    if item.is_free:
        raise OrderRefused("Free is not bought: it begins when what you paid for ends.")
    if status.plan is None or status.covered_until is None:
        return Offer(Kind.PLAN, f"{item} plan, one month", item.monthly_credits, item.price_cents)
    if status.is_due:
        month = month_starting(status.covered_until, subscription.started_on)
        return make_renewal_offer(item, month)
    if item == status.plan:
        raise OrderRefused(f"You have {item} already.")
    if item.price_cents <= status.plan.price_cents:
        raise OrderRefused(f"You have {status.plan}: {item} is chosen for when that ends.")
    return _make_upgrade_offer(item, subscription)


def _make_upgrade_offer(item: Plan, subscription: Subscription) -> Offer:
    """Offer the difference to a higher plan, for all months that a lower plan covers.

    Price and credits are those of the higher plan less what was paid for and granted.
    """
    today, account = timezone.now().date(), subscription.account
    until = subscriptions.load_coverage(account).lower_until(today, item)
    paid = account.orders.filter(state=State.PAID, period_end__gt=today, period_start__lt=until)
    covering = list(paid.for_plans())
    months = sum(order.kind != Kind.UPGRADE for order in covering)
    net_cents = item.price_cents * months - sum(order.net_cents for order in covering)
    credits = item.monthly_credits * months - sum(order.credits for order in covering)
    if net_cents <= 0:
        raise OrderRefused(f"{item} costs no more than you paid. Write to support to change to it.")
    start = min(order.period_start for order in covering if order.period_start)
    return Offer(
        Kind.UPGRADE,
        f"Upgrade from {subscription.plan} to {item} until {_format_last_day(until)}",
        max(0, credits),
        net_cents,
        Period(start, until),
    )


def make_renewal_offer(plan: Plan, month: Period, net_cents: int | None = None) -> Offer:
    return Offer(
        Kind.RENEWAL,
        f"{plan} plan, {month.start:%d %b %Y} to {_format_last_day(month.end)}",
        plan.monthly_credits,
        plan.price_cents if net_cents is None else net_cents,
        month,
    )


def _format_last_day(end: date) -> str:
    """Format the last day of a period, which is the day before its end."""
    return f"{end - timedelta(days=1):%d %b %Y}"


def price_with_tax(plan: Plan) -> int:
    return with_tax(plan.price_cents, tax_rate()).total_cents


def default_payment_method() -> str:
    """Return the payment method of new orders."""
    return Method.STRIPE if settings.STRIPE_SECRET_KEY else Method.INVOICE


def tax_rate() -> Decimal:
    return Decimal(str(settings.TAX_RATE))
