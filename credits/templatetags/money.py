from decimal import Decimal
from typing import Any

from django import template

from credits import money as formats

register = template.Library()


@register.filter
def money(cents: int, currency: str) -> str:
    return formats.format_money(cents, currency)


@register.filter
def percent(rate: object) -> str:
    return formats.format_percent(Decimal(str(rate)))


@register.filter
def signed_balance(number: int) -> str:
    """Format a balance with a proper minus sign. A debt is a negative balance."""
    return f"{number:,}".replace("-", formats.MINUS)


@register.filter
def signed(number: int) -> str:
    """Format a movement with a plus or a minus sign."""
    return f"+{number:,}" if number > 0 else signed_balance(number)


@register.inclusion_tag("credits/fragments/meter.html", takes_context=True)
def balance_meter(context: dict[str, Any]) -> dict[str, Any]:
    """Show the balance of the account in the navigation. Costs one query per page."""
    account = getattr(context.get("request"), "account", None)
    if account is None:
        return {}
    wallet = account.wallet
    # The plan's threshold is a tenth of its monthly credits; those make a full meter.
    scale = wallet.usual_threshold * 10
    return {"wallet": wallet, "scale": scale, "shown": min(wallet.balance, scale)}
