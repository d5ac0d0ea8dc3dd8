from decimal import Decimal
from typing import Any

from django import template

from credits import money as formats
from credits.presenters.balance import format_balance, format_signed, short_forecast
from credits.presenters.prices import pack_prices, tax_note

register = template.Library()
register.filter("credits", formats.format_credits)
register.filter("money", formats.format_money)
register.filter("signed_balance", format_balance)
register.filter("signed", format_signed)
register.filter(pack_prices)


@register.filter
def percent(rate: object) -> str:
    return formats.format_percent(Decimal(str(rate)))


@register.filter(name="tax_note")
def tax_note_for(rate: object) -> str:
    return tax_note(Decimal(str(rate)))


@register.inclusion_tag("credits/fragments/meter.html", takes_context=True)
def balance_meter(context: dict[str, Any]) -> dict[str, Any]:
    """This costs two queries per page."""
    account = getattr(context.get("request"), "account", None)
    if account is None:
        return {}
    wallet = account.wallet
    return {
        "wallet": wallet,
        "lasts": short_forecast(wallet.balance, wallet.days_left, wallet.held),
    }
