from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.urls import reverse

from accounts.date_display import date_format
from credits.models import OrderKind, OrderMethod
from credits.money import format_credits
from credits.orders.tax import Tax
from credits.presenters.invoice import tax_label
from credits.presenters.prices import format_price, limit_after_purchase

ANY_TIME = "You can change or cancel your plan at any time."
NO_TAX = Tax(Decimal(0))
TAX_NOTE = "The tax depends on your country and VAT ID."


@dataclass(frozen=True)
class OrderTerms:
    intro: str
    facts: list[str]
    total: str
    tax: str
    tax_note: str
    action: str
    payment: str
    back_url: str


def order_terms(
    *,
    kind: str,
    credits: int,
    # Net, of the pack, or of the plan per month.
    price_cents: int,
    limits: tuple[int, int],
    method: str,
    begins_on: date | None = None,
    tax: Tax = NO_TAX,
) -> OrderTerms:
    """Describe the terms. `limits`: the item's requests per minute, and the account's."""
    is_monthly = kind in (OrderKind.PLAN, OrderKind.RENEWAL)
    amount = format_credits(credits)
    overview = "credits:choose-pack" if kind == OrderKind.PACK else "credits:choose-plan"
    by_invoice = method == OrderMethod.INVOICE
    return OrderTerms(
        intro=_intro(kind, price_cents, begins_on),
        facts=[
            f"{amount} each month" if is_monthly else amount,
            *filter(None, [limit_after_purchase(*limits)]),
        ],
        total="Total per month" if is_monthly else "Total",
        tax=tax_label(*tax),
        tax_note=TAX_NOTE if tax.rate or tax.reason else "",
        action="Place order" if by_invoice else "Continue to payment",
        payment=_payment(by_invoice=by_invoice, is_monthly=is_monthly),
        back_url=reverse(overview),
    )


def _intro(kind: str, price_cents: int, begins_on: date | None) -> str:
    if kind == OrderKind.UPGRADE:
        price = format_price(price_cents)
        return f"You pay only the difference to your current plan, then {price} per month."
    if kind == OrderKind.RENEWAL and begins_on:
        return f"Your month begins on {date_format(begins_on)}. {ANY_TIME}"
    if kind == OrderKind.PLAN:
        return f"Your month begins when you pay. {ANY_TIME}"
    return "Credits never expire."


def _payment(*, by_invoice: bool, is_monthly: bool) -> str:
    if by_invoice:
        return (
            "We'll email you an invoice to pay by bank transfer. "
            "We'll add your credits once payment arrives."
        )
    card = "You pay by card on Stripe. We never see your card number."
    return f"{card} Your plan renews each month until you change to Free." if is_monthly else card
