from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from credits.services import insufficient_credits


class HasCredits(BasePermission):
    """402 before any work is done. It knows the view's price, and nothing else of it."""

    def has_permission(self, request: Request, view: Any) -> bool:
        price = view.price(request)
        # No account holds credits yet, and nothing costs any.
        if price > 0:
            raise insufficient_credits(required=price, balance=0)
        return True
