"""Panels about credits and money on the front page of the admin."""

from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format

from accounts.staff.panels import (
    MAX_ROWS,
    Cell,
    Fact,
    Link,
    Panel,
    account_cell,
    admin_list_url,
    link_cell,
    require_staff_permissions,
)
from credits.models import Order, StaffGrant, Subscription, Wallet
from credits.models.subscriptions import PlanCount
from credits.models.wallets import PACE_DAYS
from credits.money import format_money
from credits.staff.revenue import find_revenue
from runtime.dates import midnight, next_month, previous_month

_BALANCE_PERMISSIONS = ("accounts.view_account", "credits.view_wallet", "credits.view_subscription")


def usage_window_start() -> date:
    """Return the first of the days that count as recent usage, which include today."""
    return timezone.now().date() - timedelta(days=PACE_DAYS - 1)


@require_staff_permissions(*_BALANCE_PERMISSIONS)
def low_balances_panel() -> Panel:
    wallets = Wallet.objects.running_low(usage_window_start())
    lowest = wallets.select_related("account__subscription__plan")[:MAX_ROWS]
    return Panel(
        "Low balances",
        "No active account is running low on credits.",
        columns=("Account", "Balance", "Lasts", "Used in 7 days", "Plan"),
        rows=[_low_balance_row(wallet) for wallet in lowest],
        note="In use, and at the threshold or with less left than they used in the last 7 days.",
        more=Link("All low balances", admin_list_url(Wallet, "?dry=week&o=2")),
    )


def _low_balance_row(wallet: Any) -> list[Cell]:
    return [
        account_cell(wallet.account),
        Cell(wallet.balance, tone="" if wallet.balance else "bad"),
        Cell(_format_days(wallet.balance * PACE_DAYS // wallet.used), is_amount=True),
        Cell(wallet.used),
        Cell(str(wallet.account.subscription.plan)),
    ]


def _format_days(days: int) -> str:
    if days < 1:
        return "less than a day"
    return f"{days:,} day{'' if days == 1 else 's'}"


@require_staff_permissions("credits.view_order", "credits.view_subscription")
def revenue_panel() -> Panel:
    plans = Subscription.objects.count_by_paid_plan()
    return Panel(
        "Revenue",
        "No account is on a paid plan.",
        columns=("Plan", "Accounts", "Price per month"),
        rows=[_plan_row(plan) for plan in plans[:MAX_ROWS]],
        facts=[
            Fact("On paid plans", Cell(sum(plan.accounts for plan in plans))),
            *_revenue_facts(),
        ],
        note="Amounts include tax. Each refund, full or partial, counts in the month it was made.",
        more=Link("All paid orders", admin_list_url(Order, "?state__exact=paid")),
    )


def _plan_row(plan: PlanCount) -> list[Cell]:
    accounts_url = admin_list_url(Subscription, f"?plan__id__exact={plan.plan_id}")
    price = format_money(plan.price_cents, settings.CURRENCY)
    return [
        Cell(plan.name),
        Cell(plan.accounts, accounts_url),
        Cell(price, is_amount=True),
    ]


def _revenue_facts() -> list[Fact]:
    this_month = timezone.now().date().replace(day=1)
    months = {"this": this_month, "last": previous_month(this_month)}
    ranges = {name: _month_range(first) for name, first in months.items()}
    revenue = find_revenue(ranges)
    return [
        Fact(f"{label} {first:%B}", Cell(_format_sums(revenue[event, name])))
        for event, label in (("paid", "Paid in"), ("refunded", "Refunded in"))
        for name, first in months.items()
    ]


def _month_range(first: date) -> tuple[datetime, datetime]:
    return midnight(first), midnight(next_month(first))


def _format_sums(cents_by_currency: dict[str, int]) -> str:
    sums = [format_money(cents, currency) for currency, cents in cents_by_currency.items()]
    return ", ".join(sums) or "Nothing"


@require_staff_permissions("credits.view_order", "accounts.view_account")
def unpaid_orders_panel() -> Panel:
    pending = Order.objects.pending().select_related("account").order_by("placed_at", "pk")
    return Panel(
        "Unpaid orders",
        "No orders are waiting for payment.",
        columns=("Order", "Account", "Due", "Total"),
        rows=[_unpaid_row(order) for order in pending[:MAX_ROWS]],
        note="Oldest first. Once a bank transfer arrives, open its order and mark it paid.",
        more=Link("All unpaid orders", admin_list_url(Order, "?state__exact=pending&o=7")),
    )


def _unpaid_row(order: Order) -> list[Cell]:
    return [
        link_cell(order, order.number),
        account_cell(order.account),
        _due_cell(order),
        Cell(format_money(order.total_cents, order.currency), is_amount=True),
    ]


def _due_cell(order: Order) -> Cell:
    if order.is_overdue:
        return Cell(f"{date_format(order.due_on)}, overdue", tone="bad")
    return Cell(order.due_on)


@require_staff_permissions("credits.view_staffgrant", "accounts.view_account")
def pending_grants_panel() -> Panel:
    pending = StaffGrant.objects.pending().select_related("account", "requested_by")
    return Panel(
        "Grants to confirm",
        "No grants are waiting for confirmation.",
        columns=("Credits", "Account", "Requested by", "Requested"),
        rows=[_pending_row(grant) for grant in pending.order_by("requested_at", "pk")[:MAX_ROWS]],
        note="Oldest first. Open a grant to confirm or reject it.",
        more=Link("All pending grants", admin_list_url(StaffGrant, "?state__exact=pending")),
    )


def _pending_row(grant: StaffGrant) -> list[Cell]:
    return [
        link_cell(grant, f"{grant.amount:,}"),
        account_cell(grant.account),
        Cell(str(grant.requested_by) if grant.requested_by else None),
        Cell(grant.requested_at),
    ]
