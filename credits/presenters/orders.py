"""Say what an order is waiting for, or how it ended. Pure."""

from dataclasses import dataclass
from datetime import datetime

from django.template.defaultfilters import pluralize

from accounts.date_display import date_format
from accounts.presenters.elements import Badge
from credits.models import Order
from credits.money import format_credits, format_money

State = Order.State


@dataclass(frozen=True)
class OrderOutcome:
    """How an order ended. The page shows the time between verb and text."""

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
    return Badge(State(order.state).label)


def due_date(order: Order) -> str:
    verb = "was due" if order.is_overdue else "due"
    return f"{verb} on {date_format(order.due_on)}"


def order_outcome(order: Order) -> OrderOutcome | None:
    """Return how the order ended, or None while it waits for payment."""
    if order.is_pending:
        return None
    if order.is_paid:
        verb = "Paid" if order.total_cents else "Assigned"
        return OrderOutcome(verb, order.paid_at, _added(order))
    if order.state == State.REFUNDED:
        return OrderOutcome("Refunded", order.refunded_at, "Its credits were deducted.")
    return OrderOutcome("Canceled", order.cancelled_at, "Nothing is due.")


def invoice_stamp(order: Order) -> str:
    """Return what is stamped on the invoice of an order that has ended."""
    outcome = order_outcome(order)
    if outcome is None or outcome.at is None:
        return ""
    stamp = f"{outcome.verb} on {date_format(outcome.at)}."
    if order.is_paid and order.refunded_cents:
        return f"{stamp} {_refunded(order)} was refunded."
    return stamp if order.state != State.CANCELLED else f"{stamp} {outcome.text}"


def payment_page_action(order: Order) -> str:
    return "Get a new payment link" if order.provider_url else "Get payment link"


def _added(order: Order) -> str:
    if not order.credits:
        return ""
    verb = pluralize(order.credits, "was,were")
    added = f"{format_credits(order.credits)} {verb} added to your balance"
    if order.refunded_cents:
        return f"{added}. Credits for the refunded {_refunded(order)} were deducted."
    return f"{added}."


def _refunded(order: Order) -> str:
    return format_money(order.refunded_cents, order.currency)
