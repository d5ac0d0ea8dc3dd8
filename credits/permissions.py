from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apikeys.request import get_api_key
from credits.wallet.charges import charges_refused, insufficient_credits


class HasCredits(BasePermission):
    """Refuses requests with 402 before any work if the balance is below the price of the view.

    Authentication read the balance together with the key, so it may be slightly stale. Requests
    that pass are charged by a conditional statement, which checks the balance again.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        price, balance = view.price(request), get_api_key(request).account.wallet.balance
        if price > balance:
            charges_refused.inc()
            raise insufficient_credits(required=price, balance=balance)
        return True
