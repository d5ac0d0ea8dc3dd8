"""What an invoice says, line by line. credits/presenters/invoice.py builds it from an order."""

from dataclasses import dataclass

Lines = tuple[str, ...]
# A label and its value.
Row = tuple[str, str]


@dataclass(frozen=True)
class InvoiceText:
    title: str
    number: str
    # YYYY-MM-DD. The PDF file says that it was created then.
    created_on: str
    seller: Lines
    buyer: Lines
    facts: tuple[Row, ...]
    # How the order ended, or nothing.
    stamp: str
    description: str
    period: str
    credits: str
    net: str
    # The tax, or nothing.
    sums: tuple[Row, ...]
    total: Row
    refunds: tuple[Row, ...]
    payment: Lines
