"""Say what plans and packs cost and include. Pure."""

from collections.abc import Sequence
from decimal import Decimal

from django.conf import settings

from credits.models import Pack, Plan
from credits.money import format_money, format_percent
from credits.presenters.balance import format_credits


def format_price(cents: int) -> str:
    return format_money(cents, settings.CURRENCY)


def plan_price(plan: Plan) -> str:
    return f"{format_price(plan.price_cents)} per month"


def plan_credits(plan: Plan) -> str:
    amount = format_credits(plan.monthly_credits)
    return f"Topped up to {amount} each month" if plan.is_free else f"{amount} each month"


def limit_after_purchase(limit: int, current: int) -> str:
    """Say what an item with a rate limit does to the account's."""
    if limit > current:
        return f"Raises your rate limit to {limit:,} requests per minute."
    return f"Your rate limit stays at {current:,} requests per minute."


def tax_note(rate: Decimal) -> str:
    return f"Prices exclude {format_percent(rate)} tax." if rate else ""


def pack_prices(packs: Sequence[Pack]) -> str:
    """List the packs as in `1,000 credits for $5.00 or 9,000 credits for $30.00`."""
    offers = [f"{pack} for {format_price(pack.price_cents)}" for pack in packs]
    first, last = offers[:-1], offers[-1:]
    return " or ".join(filter(None, (", ".join(first), *last)))
