from dataclasses import dataclass

from django.conf import settings
from django.shortcuts import resolve_url

from apikeys.errors import ApiError


@dataclass(eq=False)
class InsufficientCredits(ApiError):
    """The balance does not cover what a request costs."""

    code: str = "insufficient_credits"


def insufficient_credits(*, required: int, balance: int) -> InsufficientCredits:
    dashboard = f"{settings.BASE_URL}{resolve_url(settings.LOGIN_REDIRECT_URL)}"
    return InsufficientCredits(
        message=f"This request costs {_credits(required)} and your balance is {balance}. "
        "Buy credits or upgrade your plan.",
        details={
            "required": required,
            "balance": balance,
            "top_up_url": dashboard,
            "upgrade_url": dashboard,
        },
    )


def _credits(number: int) -> str:
    return "1 credit" if number == 1 else f"{number} credits"
