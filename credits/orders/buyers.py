"""The names on an account's invoices, which its next order starts with."""

from dataclasses import dataclass

from accounts.models import Account
from credits.models import Order


@dataclass(frozen=True)
class Buyer:
    """The name, address, and tax number on an invoice, and the country that decides on the tax."""

    name: str
    address: str = ""
    tax_id: str = ""
    # An ISO 3166 code. Empty for orders from before it was asked for.
    country: str = ""


def last_buyer(account: Account) -> Buyer:
    """Return the buyer of the account's last order, or the account itself if it has none."""
    order = account.orders.exclude(kind=Order.Kind.GIFT).first()
    if order is None:
        return Buyer(account.name)
    return Buyer(order.buyer_name, order.buyer_address, order.buyer_tax_id, order.buyer_country)
