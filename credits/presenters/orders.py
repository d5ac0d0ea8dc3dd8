from dataclasses import dataclass
from datetime import datetime

from django.template.defaultfilters import pluralize

from accounts.date_display import date_format
from accounts.presenters.elements import Badge
from credits.models import Order, OrderState
from credits.money import format_credits


@dataclass(frozen=True)
class OrderOutcome:
    """The page shows the time between verb and text."""

    verb: str
    at: datetime | None
    text: str


def order_badge(order: Order) -> Badge:
    if order.is_paid and order.refunded_cents:
        return Badge("Partly refunded")
    if order.is_paid:
        return Badge("Paid", "deliverable", "circle-check")
    if order.is_overdue:
        return Badge("Overdue", "risky", "triangle-alert")
    return Badge(OrderState(order.state).label)


def due_date(order: Order) -> str:
    verb = "was due" if order.is_overdue else "due"
    return f"{verb} on {date_format(order.due_on)}"


def order_outcome(order: Order) -> OrderOutcome | None:
    """Return None while the order waits for payment."""
    if order.is_pending:
        return None
    if order.is_paid:
        verb = "Paid" if order.total_cents else "Assigned"
        added = ""
        if order.credits:
            were = pluralize(order.credits, "was,were")
            added = f"{format_credits(order.credits)} {were} added to your balance."
        if added and order.refunded_cents:
            added += f" Credits for the refunded {order.money(order.refunded_cents)} were deducted."
        return OrderOutcome(verb, order.paid_at, added)
    if order.state == OrderState.REFUNDED:
        return OrderOutcome("Refunded", order.refunded_at, "Its credits were deducted.")
    return OrderOutcome("Canceled", order.cancelled_at, "Nothing is due.")


def nothing_to_pay(order: Order) -> str:
    state = "already paid" if order.is_paid else "no longer waiting for payment"
    return f"{order.number} is {state}."


def invoice_stamp(order: Order) -> str:
    outcome = order_outcome(order)
    if outcome is None or outcome.at is None:
        return ""
    stamp = f"{outcome.verb} on {date_format(outcome.at)}"
    if order.is_paid and order.refunded_cents:
        return f"{stamp}. {order.money(order.refunded_cents)} was refunded."
    return stamp if order.state != OrderState.CANCELLED else f"{stamp}. {outcome.text}"
