from collections.abc import Iterable
from decimal import Decimal

from django.conf import settings

from accounts.date_display import date_format
from credits.countries import COUNTRIES
from credits.invoices.text import InvoiceText, Lines, Row
from credits.models import Order, OrderKind, list_refunds
from credits.money import MINUS, format_percent
from credits.orders.tax import has_vat_ids
from credits.presenters.orders import invoice_stamp


def describe_invoice(order: Order) -> InvoiceText:
    return InvoiceText(
        title="Receipt" if order.was_paid_by_card else "Invoice",
        number=order.number,
        created_on=(order.invoiced_on or order.placed_at.date()).isoformat(),
        seller=_lines(
            order.seller_name,
            *order.seller_address.splitlines(),
            f"Tax number {order.seller_tax_id}" if order.seller_tax_id else "",
            settings.SUPPORT_EMAIL,
        ),
        buyer=buyer_lines(order),
        facts=tuple(_facts(order)),
        stamp=invoice_stamp(order),
        description=order.description,
        period=_period(order),
        credits=f"{order.credits:,}",
        net=order.money(order.net_cents),
        sums=_sums(order),
        total=("Total", order.money(order.total_cents)),
        refunds=tuple(refund_rows(order)),
        payment=_payment(order),
    )


def tax_label(rate: Decimal, reason: str) -> str:
    if not (rate or reason):
        return ""
    return f"Tax, {format_percent(rate)} · {reason}" if reason else f"Tax, {format_percent(rate)}"


def order_tax(order: Order) -> str:
    label = tax_label(order.tax_rate, order.tax_reason)
    if not label:
        return ""
    net, tax = order.money(order.net_cents), order.money(order.tax_cents)
    return f"{net} net, {tax} tax ({label.removeprefix('Tax, ')})"


def buyer_lines(order: Order) -> Lines:
    number = "VAT ID" if has_vat_ids(order.buyer_country) else "Tax number"
    return _lines(
        order.buyer_name,
        *order.buyer_address.splitlines(),
        COUNTRIES.get(order.buyer_country, order.buyer_country),
        f"{number} {order.buyer_tax_id}" if order.buyer_tax_id else "",
    )


def _facts(order: Order) -> Iterable[Row]:
    yield "Number", order.number
    if order.invoiced_on:
        yield "Date", date_format(order.invoiced_on)
    if order.is_pending:
        yield "Due", date_format(order.due_on)


def _sums(order: Order) -> tuple[Row, ...]:
    label = tax_label(order.tax_rate, order.tax_reason)
    if not label:
        return ()
    subtotal = ("Subtotal", order.money(order.net_cents))
    return subtotal, (label, order.money(order.tax_cents))


def _period(order: Order) -> str:
    """Return the period, unless it is in the description."""
    if not (order.period_start and order.last_day) or order.kind == OrderKind.RENEWAL:
        return ""
    return f"{date_format(order.period_start)} to {date_format(order.last_day)}"


def refund_rows(order: Order) -> Iterable[Row]:
    if not order.refunded_cents:
        return
    for at, cents in list_refunds(order):
        label = f"Refunded on {date_format(at)}" if at else "Earlier refunds"
        yield label, MINUS + order.money(cents)
    yield "Total after refunds", order.money(order.total_cents - order.refunded_cents)


def _payment(order: Order) -> Lines:
    if order.is_pending and order.payment_details:
        return _lines(
            f"Please transfer {order.money(order.total_cents)} by {date_format(order.due_on)} "
            f"with the reference {order.number}:",
            *order.payment_details.splitlines(),
        )
    return ("Paid by card.",) if order.was_paid_by_card else ()


def _lines(*lines: str) -> Lines:
    return tuple(line.strip() for line in lines if line.strip())
