from datetime import date, timedelta
from typing import Any

from django.conf import settings
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.utils.formats import date_format

from accounts.staff.links import account_cell, admin_list_url, link_cell
from accounts.staff.panels import MAX_ROWS, Cell, Fact, Link, Panel, require_staff_permissions
from credits.models import Order, StaffGrant, Subscription, Wallet
from credits.models.wallets import PACE_DAYS
from credits.money import format_money

_BALANCE_PERMISSIONS = ("accounts.view_account", "credits.view_wallet", "credits.view_subscription")


def usage_window_start() -> date:
    return timezone.now().date() - timedelta(days=PACE_DAYS - 1)


@require_staff_permissions(*_BALANCE_PERMISSIONS)
def low_balances_panel() -> Panel:
    wallets: Any = Wallet.objects.running_low(usage_window_start())
    rows = []
    for wallet in wallets.select_related("account__subscription__plan")[:MAX_ROWS]:
        lasts = None
        if wallet.used_by_requests:
            days = wallet.balance * PACE_DAYS // wallet.used_by_requests
            lasts = f"{days:,} day{pluralize(days)}" if days else "less than a day"
        rows.append(
            [
                account_cell(wallet.account),
                Cell(wallet.balance, tone="" if wallet.balance else "bad"),
                Cell(lasts, is_amount=True),
                Cell(wallet.used),
                Cell(str(wallet.account.subscription.plan)),
            ]
        )
    return Panel(
        "Low balances",
        "No active account is running low on credits.",
        columns=("Account", "Balance", "Lasts", "Used in 7 days", "Plan"),
        rows=rows,
        note="In use, and at the threshold or with less left than requests used in 7 days.",
        more=Link("All low balances", admin_list_url(Wallet, "?dry=week&o=2")),
    )


@require_staff_permissions("credits.view_subscription")
def paid_plans_panel() -> Panel:
    counts = Subscription.objects.count_by_paid_plan()
    return Panel(
        "Paid plans",
        "No account is on a paid plan.",
        columns=("Plan", "Accounts", "Price per month"),
        rows=[
            [
                Cell(plan.name),
                Cell(accounts, admin_list_url(Subscription, f"?plan__id__exact={plan.pk}")),
                Cell(format_money(plan.price_cents, settings.CURRENCY), is_amount=True),
            ]
            for plan, accounts in counts[:MAX_ROWS]
        ],
        facts=[Fact("Accounts", Cell(sum(accounts for _, accounts in counts)))],
        more=Link("All subscriptions", admin_list_url(Subscription)),
    )


@require_staff_permissions("credits.view_order", "accounts.view_account")
def unpaid_orders_panel() -> Panel:
    pending = Order.objects.pending().select_related("account").order_by("placed_at", "pk")
    return Panel(
        "Unpaid orders",
        "No orders are waiting for payment.",
        columns=("Order", "Account", "Due", "Total"),
        rows=[
            [
                link_cell(order, order.number),
                account_cell(order.account),
                Cell(f"{date_format(order.due_on)}, overdue", tone="bad")
                if order.is_overdue
                else Cell(order.due_on),
                Cell(order.money(order.total_cents), is_amount=True),
            ]
            for order in pending[:MAX_ROWS]
        ],
        is_work=True,
        note="Oldest first. Once a bank transfer arrives, open its order and mark it paid.",
        more=Link("All unpaid orders", admin_list_url(Order, "?state__exact=pending&o=7")),
    )


@require_staff_permissions("credits.view_staffgrant", "accounts.view_account")
def pending_grants_panel() -> Panel:
    pending = StaffGrant.objects.pending().select_related("account", "requested_by")
    return Panel(
        "Grants to confirm",
        "No grants are waiting for confirmation.",
        columns=("Credits", "Account", "Requested by", "Requested"),
        rows=[
            [
                link_cell(grant, f"{grant.amount:,}"),
                account_cell(grant.account),
                Cell(str(grant.requested_by) if grant.requested_by else None),
                Cell(grant.requested_at),
            ]
            for grant in pending.order_by("requested_at", "pk")[:MAX_ROWS]
        ],
        is_work=True,
        note="Oldest first. Open a grant to confirm or reject it.",
        more=Link("All pending grants", admin_list_url(StaffGrant, "?state__exact=pending")),
    )
