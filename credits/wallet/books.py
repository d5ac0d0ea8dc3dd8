import logging
from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, Q

from accounts.models import Account
from credits.models import EntryKind, InvoiceCounter, LedgerEntry, Order, OrderState, Wallet
from runtime.metrics.client import LatestGauge

logger = logging.getLogger(__name__)

WRONG_ORDERS = {
    OrderState.PENDING: "is not paid, but its credits were granted.",
    OrderState.CANCELLED: "is not paid, but its credits were granted.",
    OrderState.PAID: "is paid, but its credits were not granted.",
    OrderState.REFUNDED: "is refunded, but its credits were not deducted.",
}


discrepancies = LatestGauge(
    "emailvalidation_books_discrepancies",
    "Discrepancies that the last daily run of `manage.py check_books` found.",
)


def check_daily() -> None:
    """Do the daily job. It doesn't fail, as no repetition would help."""
    found = list(find_discrepancies())
    for discrepancy in found:
        logger.error("The books disagree: %s", discrepancy)
    discrepancies.set(len(found))


def find_discrepancies() -> Iterator[str]:
    for account in Account.objects.filter(Q(wallet=None) | Q(subscription=None)):
        yield f"{account.public_id}: has no wallet or no subscription."
    yield from _wrong_balances()
    yield from _wrong_orders()
    yield from _missing_invoices()


def _wrong_balances() -> Iterator[str]:
    wallets = Wallet.objects.with_totals().exclude(
        balance=F("debt") - F("held") + F("ledger_total") - F("usage_total"), held=F("holds_total")
    )
    found: Any = wallets.select_related("account").iterator()
    for wallet in found:
        account_id = wallet.account.public_id
        if wallet.owned != wallet.ledger_total - wallet.usage_total:
            yield (
                f"{account_id}: balance {wallet.balance} + held {wallet.held} - debt {wallet.debt} "
                f"does not equal ledger {wallet.ledger_total} - usage {wallet.usage_total}."
            )
        if wallet.held != wallet.holds_total:
            holds = wallet.holds_total
            yield f"{account_id}: held {wallet.held} does not equal open holds {holds}."


def _wrong_orders() -> Iterator[str]:
    entries = LedgerEntry.objects.filter(order=OuterRef("pk"))
    granted = Exists(entries.filter(amount=OuterRef("credits")))
    deducted = Exists(entries.filter(kind=EntryKind.REFUND))
    orders = Order.objects.annotate(granted=granted, deducted=deducted).select_related("account")
    unpaid = (OrderState.PENDING, OrderState.CANCELLED)
    wrong = orders.filter(
        Q(state=OrderState.PAID, granted=False, credits__gt=0)
        | Q(state__in=unpaid, granted=True)
        | Q(state=OrderState.REFUNDED, granted=True, deducted=False)
    )
    for order in wrong:
        what = WRONG_ORDERS[OrderState(order.state)]
        yield f"{order.account.public_id}: {order.public_id} {what}"


def _missing_invoices() -> Iterator[str]:
    invoiced = Order.objects.exclude(invoice_number=None)
    count = invoiced.count()
    highest = invoiced.aggregate(highest=Max("invoice_number"))["highest"] or 0
    counter = InvoiceCounter.objects.filter(pk=1).first()
    last = counter.last if counter else 0
    if not highest == last == count:
        yield f"invoices: {count} exist, the highest number is {highest}, the counter is at {last}."
