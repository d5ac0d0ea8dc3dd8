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
register.filter("percent", formats.format_percent)
register.filter(pack_prices)
register.filter(tax_note)


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
