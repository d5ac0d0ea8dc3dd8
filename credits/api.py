"""GET /v1/me and GET /v1/credits: what a key may ask about its account, for nothing."""

from rest_framework.request import Request

from apikeys.crypto import PREFIX
from apikeys.request import api_key_of
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import describe
from apikeys.rest.view import ApiView
from apikeys.throttling.limits import WINDOW_SECONDS
from credits.periods import midnight
from credits.plans.subscriptions import next_grant
from credits.serializers import CreditsSerializer, MeSerializer
from credits.wallet.totals import used_since

EXAMPLE_OF_ME = {
    "account": {"id": "acc_8Jq2LxVbN4tRwYz6KpDm", "name": "Example Shop"},
    "key": {
        "id": "key_5Hc9TfWnQ3sEvXy7BgMk",
        "name": "Sign-up form",
        "display": f"{PREFIX}Ab1c…9xYz",
        "expires_at": None,
    },
    "plan": "free",
    "rate_limit": {"limit": 60, "window": WINDOW_SECONDS},
}
EXAMPLE_OF_CREDITS = {
    "balance": 4211,
    "used_this_period": 789,
    "plan": "starter",
    "next_grant": 5000,
    "next_grant_at": "2026-12-21T00:00:00.000Z",
    "low_balance_threshold": 500,
}


class MeView(ApiView):
    reads = ("subscription",)

    @describe(
        "show-me",
        "Show whose key this is",
        "The account and the key of this request, and how many requests a minute it may send.",
        MeSerializer,
        examples={"A key without a last day": EXAMPLE_OF_ME},
    )
    def get(self, request: Request) -> ApiResponse:
        key = api_key_of(request)
        return json_response(
            {
                "account": {"id": key.account.public_id, "name": key.account.name},
                "key": {
                    "id": key.public_id,
                    "name": key.name,
                    "display": key.display,
                    "expires_at": key.expires_at,
                },
                "plan": key.account.subscription.plan.code,
                "rate_limit": {"limit": key.request_limit, "window": WINDOW_SECONDS},
            }
        )


class CreditsView(ApiView):
    reads = ("wallet", "subscription")

    @describe(
        "show-credits",
        "Show the balance",
        "What the account has left, and what comes next.",
        CreditsSerializer,
        examples={"On the plan Starter": EXAMPLE_OF_CREDITS},
    )
    def get(self, request: Request) -> ApiResponse:
        account = api_key_of(request).account
        wallet, subscription = account.wallet, account.subscription
        grant, day = next_grant(subscription)
        return json_response(
            {
                "balance": wallet.balance,
                "used_this_period": used_since(account, midnight(subscription.period.start)),
                "plan": subscription.plan.code,
                "next_grant": grant,
                "next_grant_at": day and midnight(day),
                "low_balance_threshold": wallet.threshold,
            }
        )
