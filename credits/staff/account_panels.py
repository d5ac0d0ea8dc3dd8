from accounts.models import Account
from accounts.staff.links import account_admin_list_url, link_cell
from accounts.staff.panels import MAX_ROWS, Cell, Fact, Link, Panel, require_staff_permissions
from credits.models import LedgerEntry, Order
from credits.presenters.balance import format_signed


@require_staff_permissions("credits.view_wallet", "credits.view_subscription", tab="Billing")
def balance_panel(account: Account) -> Panel:
    wallet, subscription = account.wallet, account.subscription
    days = wallet.days_left
    return Panel(
        "Balance and plan",
        facts=[
            Fact("Balance", Cell(wallet.balance, tone="" if wallet.balance else "bad")),
            Fact("Held", Cell(wallet.held)),
            Fact("Debt", Cell(wallet.debt, tone="bad" if wallet.debt else "")),
            Fact("Days left", Cell("No recent requests" if days is None else days)),
            Fact("Low-balance threshold", Cell(wallet.threshold)),
            Fact("Plan", Cell(subscription.plan.name)),
            Fact("Paid until", Cell(subscription.covered_until)),
            Fact("Requests per minute", Cell(account.request_limit)),
        ],
    )


@require_staff_permissions("credits.view_ledgerentry", tab="Billing")
def ledger_panel(account: Account) -> Panel:
    return Panel(
        "Latest ledger entries",
        "No entries yet.",
        columns=("Time", "Kind", "Amount", "Actor", "Reason"),
        rows=[
            [
                Cell(entry.at),
                link_cell(entry, entry.get_kind_display()),
                Cell(format_signed(entry.amount), is_amount=True),
                Cell(entry.actor),
                Cell(entry.reason),
            ]
            for entry in account.ledger.all()[:MAX_ROWS]
        ],
        more=Link("Full ledger", account_admin_list_url(LedgerEntry, account)),
    )


@require_staff_permissions("credits.view_order", tab="Billing")
def orders_panel(account: Account) -> Panel:
    return Panel(
        "Latest orders",
        "No orders yet.",
        columns=("Order", "Item", "State", "Total", "Placed", "Paid"),
        rows=[
            [
                link_cell(order, order.number),
                Cell(order.description),
                Cell(f"{order.get_state_display()}, overdue", tone="bad")
                if order.is_overdue
                else Cell(order.get_state_display()),
                Cell(order.money(order.total_cents), is_amount=True),
                Cell(order.placed_at),
                Cell(order.paid_at),
            ]
            for order in account.orders.all()[:MAX_ROWS]
        ],
        more=Link("All orders", account_admin_list_url(Order, account)),
    )
