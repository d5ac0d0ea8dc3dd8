from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apikeys.request import api_key_of
from credits.wallet.charges import insufficient_credits, refused


class HasCredits(BasePermission):
    """402 before any work is done. It knows the view's price, and nothing else of it.

    The balance is the one read with the key: who is refused here had too little a moment ago, and
    who gets past is charged by a statement that judges again.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        price, balance = view.price(request), api_key_of(request).account.wallet.balance
        if price > balance:
            refused.add()
            raise insufficient_credits(required=price, balance=balance)
        return True
