from dataclasses import dataclass

Lines = tuple[str, ...]
Row = tuple[str, str]


@dataclass(frozen=True)
class InvoiceText:
    title: str
    number: str
    # YYYY-MM-DD, the PDF's creation date.
    created_on: str
    seller: Lines
    buyer: Lines
    facts: tuple[Row, ...]
    stamp: str
    description: str
    period: str
    credits: str
    net: str
    sums: tuple[Row, ...]
    total: Row
    refunds: tuple[Row, ...]
    payment: Lines
