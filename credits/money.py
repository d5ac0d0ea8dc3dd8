"""Amounts are in whole cents. Tax is rounded half up, once per order."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.template.defaultfilters import pluralize

MINUS = "\N{MINUS SIGN}"
# Other currencies have their code: there are several dollars.
SYMBOLS = {"USD": "$"}


@dataclass(frozen=True)
class TaxedPrice:
    net_cents: int
    tax_cents: int

    @property
    def total_cents(self) -> int:
        return self.net_cents + self.tax_cents


def with_tax(net_cents: int, tax_rate: Decimal) -> TaxedPrice:
    tax = (net_cents * tax_rate).quantize(Decimal(1), ROUND_HALF_UP)
    return TaxedPrice(net_cents, int(tax))


def without_tax(total_cents: int, tax_rate: Decimal) -> int:
    return int((total_cents / (1 + tax_rate)).quantize(Decimal(1), ROUND_HALF_UP))


def format_money(cents: int, currency: str) -> str:
    """Format money as `$1,200.00` or `EUR 1,200.00`."""
    units, fraction = divmod(abs(cents), 100)
    sign = MINUS if cents < 0 else ""
    symbol = SYMBOLS.get(currency, f"{currency} ")
    return f"{sign}{symbol}{units:,}.{fraction:02}"


def format_percent(tax_rate: Decimal) -> str:
    return f"{(tax_rate * 100).normalize():f}%"


def format_credits(number: int) -> str:
    return f"{number:,} credit{pluralize(number)}"
