"""What staff see first of credits and money: who runs dry, who pays, and who has not paid yet."""

from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.staff.panels import (
    MAX_ROWS,
    Cell,
    Fact,
    Link,
    Panel,
    admin_list_url,
    cell_of,
    cell_of_account,
    require_staff_permissions,
)
from credits.models import Order, StaffGrant, Subscription, Wallet
from credits.money import format_money
from credits.periods import midnight
from credits.wallet.statement import PACE_DAYS, month_before, next_month

_MAY_SEE_BALANCES = ("accounts.view_account", "credits.view_wallet", "credits.view_subscription")


def week_before() -> date:
    """The first of the days whose use is the pace: today is one of them."""
    return timezone.now().date() - timedelta(days=PACE_DAYS - 1)


@require_staff_permissions(*_MAY_SEE_BALANCES)
def low_balances_panel() -> Panel:
    wallets = Wallet.objects.running_dry(week_before())
    worst = wallets.select_related("account__subscription__plan")[:MAX_ROWS]
    return Panel(
        "Who is running dry?",
        "Nobody who used credits in the last 7 days is short of them.",
        columns=("Account", "Balance", "Lasts", "Used in 7 days", "Plan"),
        rows=[_dry(wallet) for wallet in worst],
        note="In use, and below the threshold or with less than they used in the last 7 days.",
        more=Link("All who are running dry", admin_list_url(Wallet, "?dry=week&o=2")),
    )


def _dry(wallet: Any) -> list[Cell]:
    return [
        cell_of_account(wallet.account),
        Cell(wallet.balance, tone="" if wallet.balance else "bad"),
        Cell(_days(wallet.balance * PACE_DAYS // wallet.used), is_amount=True),
        Cell(wallet.used),
        Cell(str(wallet.account.subscription.plan)),
    ]


def _days(days: int) -> str:
    if days < 1:
        return "under a day"
    return f"{days:,} day{'' if days == 1 else 's'}"


@require_staff_permissions("credits.view_order", "credits.view_subscription")
def revenue_panel() -> Panel:
    plans = list(Subscription.objects.by_paid_plan())
    return Panel(
        "Who pays?",
        "No account is on a paid plan.",
        columns=("Plan", "Accounts", "Price a month"),
        rows=[_plan(plan) for plan in plans[:MAX_ROWS]],
        facts=[
            Fact("On paid plans", Cell(sum(plan["accounts"] for plan in plans))),
            *_money_of_two_months(),
        ],
        note="Amounts with tax; a refund counts once all of an order is given back.",
        more=Link("All paid orders", admin_list_url(Order, "?state__exact=paid")),
    )


def _plan(line: dict[str, Any]) -> list[Cell]:
    accounts = admin_list_url(Subscription, f"?plan__id__exact={line['plan']}")
    price = format_money(line["plan__price_cents"], settings.CURRENCY)
    return [Cell(line["plan__name"]), Cell(line["accounts"], accounts), Cell(price, is_amount=True)]


def _money_of_two_months() -> list[Fact]:
    this = timezone.now().date().replace(day=1)
    firsts = {"this": this, "last": month_before(this)}
    lines = list(Order.objects.moved({name: _span(first) for name, first in firsts.items()}))
    return [
        Fact(f"{label} {first:%B}", Cell(_sums(lines, f"{what}_{name}")))
        for what, label in (("paid", "Paid in"), ("refunded", "Refunded in"))
        for name, first in firsts.items()
    ]


def _span(first: date) -> tuple[datetime, datetime]:
    return midnight(first), midnight(next_month(first))


def _sums(lines: list[dict[str, Any]], name: str) -> str:
    """Each currency by itself."""
    said = [format_money(line[name], line["currency"]) for line in lines if line[name]]
    return ", ".join(said) or "Nothing"


@require_staff_permissions("credits.view_order", "accounts.view_account")
def unpaid_orders_panel() -> Panel:
    pending = Order.objects.pending().select_related("account").order_by("placed_at", "pk")
    return Panel(
        "Who has not paid yet?",
        "No order waits for payment.",
        columns=("Order", "Account", "Due", "Total"),
        rows=[_unpaid(order) for order in pending[:MAX_ROWS]],
        note="The oldest first. When the money of an invoice is there, open it and mark it paid.",
        more=Link("All orders that wait", admin_list_url(Order, "?state__exact=pending&o=7")),
    )


def _unpaid(order: Order) -> list[Cell]:
    return [
        cell_of(order, order.number),
        cell_of_account(order.account),
        _due(order),
        Cell(format_money(order.total_cents, order.currency), is_amount=True),
    ]


def _due(order: Order) -> Cell:
    if order.is_overdue:
        return Cell(f"{order.due_on:%d %b %Y}, overdue", tone="bad")
    return Cell(order.due_on)


@require_staff_permissions("credits.view_staffgrant", "accounts.view_account")
def pending_grants_panel() -> Panel:
    pending = StaffGrant.objects.pending().select_related("account", "requested_by")
    return Panel(
        "Grants waiting for a second person",
        "No grant is waiting.",
        columns=("Credits", "Account", "Asked for by", "Since"),
        rows=[_pending(grant) for grant in pending.order_by("requested_at", "pk")[:MAX_ROWS]],
        note="The oldest first. Open one to confirm or reject it.",
        more=Link("All pending grants", admin_list_url(StaffGrant, "?state__exact=pending")),
    )


def _pending(grant: StaffGrant) -> list[Cell]:
    return [
        cell_of(grant, f"{grant.amount:,}"),
        cell_of_account(grant.account),
        Cell(str(grant.requested_by) if grant.requested_by else None),
        Cell(grant.requested_at),
    ]
