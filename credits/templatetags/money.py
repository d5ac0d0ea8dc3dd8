from decimal import Decimal
from typing import Any

from django import template

from credits import money as words

register = template.Library()


@register.filter
def money(cents: int, currency: str) -> str:
    return words.format_money(cents, currency)


@register.filter
def percent(rate: object) -> str:
    return words.percent(Decimal(str(rate)))


@register.filter
def signed_balance(number: int) -> str:
    """With a real minus sign: a debt is below zero."""
    return f"{number:,}".replace("-", words.MINUS)


@register.filter
def signed(number: int) -> str:
    """What came in with a plus, what went out with a minus."""
    return f"+{number:,}" if number > 0 else signed_balance(number)


@register.inclusion_tag("credits/meter.html", takes_context=True)
def balance_meter(context: dict[str, Any]) -> dict[str, Any]:
    """The account's balance, above the last links of the navigation; one query a page."""
    account = getattr(context.get("request"), "account", None)
    if account is None:
        return {}
    wallet = account.wallet
    # The usual threshold is a tenth of the plan's month: what a full meter stands for.
    scale = wallet.usual_threshold * 10
    return {"wallet": wallet, "scale": scale, "shown": min(wallet.balance, scale)}
