from dataclasses import dataclass

from accounts.models import Account
from credits.models import OrderKind


@dataclass(frozen=True)
class Buyer:
    name: str
    address: str = ""
    tax_id: str = ""
    country: str = ""


def last_buyer(account: Account) -> Buyer:
    order = account.orders.exclude(kind=OrderKind.GIFT).first()
    if order is None:
        return Buyer(account.name)
    return Buyer(order.buyer_name, order.buyer_address, order.buyer_tax_id, order.buyer_country)
