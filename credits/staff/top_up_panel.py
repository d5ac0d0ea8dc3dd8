from collections.abc import Iterator

from accounts.models import Account
from accounts.staff.links import link_cell
from accounts.staff.panels import MAX_ROWS, Cell, Fact, Panel, require_staff_permissions
from credits.automatic_top_ups.rules import look_up_costs
from credits.models import AutomaticOrder, AutomaticTopUp, SavedCard
from credits.money import format_money


@require_staff_permissions("credits.view_automatictopup", tab="Billing")
def automatic_top_up_panel(account: Account) -> Panel:
    top_up = AutomaticTopUp.objects.select_related("pack").filter(account=account).first()
    card = SavedCard.objects.filter(account=account).first()
    text = f"{card}, expires {card.expires}" if card else "None"
    orders = AutomaticOrder.objects.filter(order__account=account).select_related("order")
    return Panel(
        "Automatic top-up",
        "No orders yet.",
        columns=("Order", "Payment", "Total", "Placed", "Paid"),
        rows=[
            [
                link_cell(automatic.order, automatic.order.number),
                Cell(
                    ": ".join(filter(None, (automatic.get_outcome_display(), automatic.failure))),
                    tone="bad" if automatic.failure else "",
                ),
                Cell(automatic.order.money(automatic.order.total_cents), is_amount=True),
                Cell(automatic.order.placed_at),
                Cell(automatic.order.paid_at),
            ]
            for automatic in orders.order_by("-order__placed_at")[:MAX_ROWS]
        ],
        facts=[
            Fact("Saved card", Cell(text, tone="bad" if card and card.is_expired else "")),
            *(_describe_settings(top_up) if top_up else []),
        ],
        note="" if top_up else "The account never switched it on.",
    )


def _describe_settings(top_up: AutomaticTopUp) -> Iterator[Fact]:
    costs = look_up_costs(top_up)
    if not top_up.is_on:
        yield Fact("State", Cell("Off"))
        yield Fact("Reason", Cell(top_up.get_off_for_display() or None))
    elif costs.obstacle:
        yield Fact("State", Cell("Paused", tone="warning"))
        yield Fact("Reason", Cell(costs.obstacle.label))
    else:
        yield Fact("State", Cell("On", tone="good"))
    yield Fact("Threshold", Cell(top_up.threshold))
    yield Fact("Pack", Cell(str(top_up.pack)))
    for label, cents in (("Monthly cap", top_up.cap_cents), ("Used this month", costs.spent_cents)):
        yield Fact(label, Cell(format_money(cents, top_up.currency), is_amount=True))
    yield Fact("Failures in a row", Cell(top_up.failures))
