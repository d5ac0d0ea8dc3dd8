from dataclasses import dataclass

from django.urls import reverse

from accounts.date_display import date_format
from credits.models import OrderKind, OrderMethod
from credits.money import format_credits
from credits.orders.quotes import Quote
from credits.presenters.invoice import tax_label
from credits.presenters.prices import format_price, limit_after_purchase

ANY_TIME = "You can change or cancel your plan at any time."
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


def order_terms(quote: Quote, current_limit: int) -> OrderTerms:
    """`current_limit`: the account's requests per minute."""
    is_monthly = quote.kind in (OrderKind.PLAN, OrderKind.RENEWAL)
    amount, tax = format_credits(quote.credits), quote.tax
    overview = "credits:choose-pack" if quote.kind == OrderKind.PACK else "credits:choose-plan"
    by_invoice = quote.method == OrderMethod.INVOICE
    limit = limit_after_purchase(quote.requests_per_minute, current_limit)
    return OrderTerms(
        intro=_intro(quote),
        facts=[f"{amount} each month" if is_monthly else amount, *filter(None, [limit])],
        total="Total per month" if is_monthly else "Total",
        tax=tax_label(*tax),
        tax_note=TAX_NOTE if tax.rate or tax.reason else "",
        action="Place order" if by_invoice else "Continue to payment",
        payment=_payment(by_invoice=by_invoice, is_monthly=is_monthly),
        back_url=reverse(overview),
    )


def _intro(quote: Quote) -> str:
    if quote.kind == OrderKind.UPGRADE:
        price = format_price(quote.item.price_cents)
        return f"You pay only the difference to your current plan, then {price} per month."
    if quote.kind == OrderKind.RENEWAL and quote.period:
        return f"Your month begins on {date_format(quote.period.start)}. {ANY_TIME}"
    if quote.kind == OrderKind.PLAN:
        return f"Your month begins when you pay. {ANY_TIME}"
    return "Credits never expire."


def _payment(*, by_invoice: bool, is_monthly: bool) -> str:
    if by_invoice:
        return (
            "We'll email you an invoice to pay by bank transfer. "
            "We'll add your credits once payment arrives."
        )
    card = (
        "Next, you pay by card on Stripe and return here. We add your credits within seconds. "
        "We never see your card number."
    )
    return f"{card} Your plan renews each month until you change to Free." if is_monthly else card
