from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.conf import settings

from credits.models import Pack, Plan
from credits.money import format_credits, format_money, format_percent

NO_PAYMENT = "No payment details needed"


def format_price(cents: int) -> str:
    return format_money(cents, settings.CURRENCY)


def format_card_price(cents: int) -> str:
    """Format a price as `$5` or `EUR 4.50`."""
    return format_price(cents).removesuffix(".00")


def plan_price(plan: Plan) -> str:
    return f"{format_card_price(plan.price_cents)} per month"


@dataclass(frozen=True)
class CardPrice:
    amount: str
    unit: str
    # The price of 1,000 credits.
    note: str


def card_price(item: Plan | Pack) -> CardPrice:
    credits = item.monthly_credits if isinstance(item, Plan) else item.credits
    rate = Decimal(item.price_cents) * 1000 / credits
    cents = int(rate.quantize(Decimal(1), ROUND_HALF_UP))
    return CardPrice(
        amount=format_card_price(item.price_cents),
        unit="per month" if isinstance(item, Plan) else "paid once",
        note=f"{format_card_price(cents)} per 1,000 credits" if rate else NO_PAYMENT,
    )


def plan_credits(plan: Plan) -> str:
    amount = format_credits(plan.monthly_credits)
    return f"Topped up to {amount} each month" if plan.is_free else f"{amount} each month"


def limit_after_purchase(limit: int, current: int) -> str:
    """Return a sentence, or nothing if the limit stays the same."""
    return f"Raises your rate limit to {limit:,} requests per minute." if limit > current else ""


def tax_note(rate: Decimal) -> str:
    return f"Prices exclude {format_percent(rate)} tax." if rate else ""


def pack_prices(packs: Sequence[Pack]) -> str:
    """Return text such as `1,000 credits for $5.00 or 9,000 credits for $30.00`."""
    offers = [f"{pack} for {format_price(pack.price_cents)}" for pack in packs]
    first, last = offers[:-1], offers[-1:]
    return " or ".join(filter(None, (", ".join(first), *last)))
