"""Whether the books agree. Reads only; each line of what it finds is for an operator."""

from collections.abc import Iterator

from django.db.models import Exists, F, Max, OuterRef, Q

from accounts.models import Account
from credits.models import InvoiceCounter, LedgerEntry, Order, Wallet

Kind, State = LedgerEntry.Kind, Order.State


def differences() -> Iterator[str]:
    """Nothing, when all is well."""
    yield from _accounts_without_books()
    yield from _wallets_that_differ()
    yield from _orders_that_differ()
    yield from _missing_invoices()


def _accounts_without_books() -> Iterator[str]:
    for account in Account.objects.filter(Q(wallet=None) | Q(subscription=None)):
        yield f"{account.public_id}: has no wallet or no plan."


def _wallets_that_differ() -> Iterator[str]:
    wallets = Wallet.objects.with_books().exclude(balance=F("debt") + F("booked") - F("used"))
    figures = ("account__public_id", "balance", "debt", "booked", "used")
    for account, balance, debt, booked, used in wallets.values_list(*figures).iterator():
        yield (
            f"{account}: balance {balance} - debt {debt} is not {booked} in the ledger - {used} "
            "used."
        )


def _orders_that_differ() -> Iterator[str]:
    entries = LedgerEntry.objects.filter(order=OuterRef("pk"))
    granted = Exists(entries.filter(amount=OuterRef("credits")))
    taken = Exists(entries.filter(kind=Kind.REFUND))
    orders = Order.objects.annotate(granted=granted, taken=taken).select_related("account")
    for order in orders.filter(state=State.PAID, granted=False, credits__gt=0):
        yield f"{order.account.public_id}: {order.public_id} is paid, its credits are not granted."
    for order in orders.filter(state__in=(State.PENDING, State.CANCELLED), granted=True):
        yield f"{order.account.public_id}: {order.public_id} is not paid, its credits are granted."
    for order in orders.filter(state=State.REFUNDED, granted=True, taken=False):
        yield f"{order.account.public_id}: {order.public_id} is refunded, its credits are not."


def _missing_invoices() -> Iterator[str]:
    written = Order.objects.exclude(invoice_number=None)
    highest = written.aggregate(most=Max("invoice_number"))["most"] or 0
    counter = InvoiceCounter.objects.filter(pk=1).first()
    last = counter.last if counter else 0
    if not highest == last == written.count():
        yield f"invoices: {written.count()} are there, the highest is {highest}, {last} were given."
