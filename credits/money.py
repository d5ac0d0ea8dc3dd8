"""Amounts of money in whole cents, and how pages write them and credits. Pure.

Tax is rounded half up, once per order.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.template.defaultfilters import pluralize

MINUS = "\N{MINUS SIGN}"
# Other currencies have their code, so that no dollar is mistaken for a US dollar.
SYMBOLS = {"USD": "$"}


@dataclass(frozen=True)
class Amount:
    net_cents: int
    tax_cents: int

    @property
    def total_cents(self) -> int:
        return self.net_cents + self.tax_cents


def with_tax(net_cents: int, tax_rate: Decimal) -> Amount:
    tax = (net_cents * tax_rate).quantize(Decimal(1), ROUND_HALF_UP)
    return Amount(net_cents, int(tax))


def without_tax(total_cents: int, tax_rate: Decimal) -> int:
    """Return the net amount of a total that includes tax."""
    return int((total_cents / (1 + tax_rate)).quantize(Decimal(1), ROUND_HALF_UP))


def format_money(cents: int, currency: str) -> str:
    """Format an amount in a table, order, or email: `$1,200.00`, or `EUR 1,200.00`."""
    units, fraction = divmod(abs(cents), 100)
    sign = MINUS if cents < 0 else ""
    symbol = SYMBOLS.get(currency, f"{currency} ")
    return f"{sign}{symbol}{units:,}.{fraction:02}"


def format_card_money(cents: int, currency: str) -> str:
    """Format an amount on a card, without decimals if it is whole: `$5`, or `EUR 4.50`."""
    return format_money(cents, currency).removesuffix(".00")


def format_percent(tax_rate: Decimal) -> str:
    """Format a rate as in `19%` or `8.1%`."""
    return f"{(tax_rate * 100).normalize():f}%"


def format_credits(number: int) -> str:
    """Format a number of credits as in `1 credit` or `1,200 credits`."""
    return f"{number:,} credit{pluralize(number)}"
