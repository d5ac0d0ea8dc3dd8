"""GET /v1/me and GET /v1/credits, which are free."""

from django.utils import timezone

from apikeys.request import ApiRequest
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import describe
from apikeys.rest.view import ApiView
from apikeys.throttling.limits import WINDOW_SECONDS
from credits.plans.periods import period_containing
from credits.plans.upcoming import next_grant
from credits.serializers import CreditsSerializer, MeSerializer
from credits.wallet.totals import credits_used_since
from runtime.dates import midnight


class MeView(ApiView):
    account_relations = ("subscription",)

    @describe(
        "show-me",
        "Get the account and the key",
        "Returns the account and the key of this request, and its rate limit.",
        MeSerializer,
        tag="Account",
    )
    def get(self, request: ApiRequest) -> ApiResponse:
        key = request.call.key
        return json_response(
            {
                "account": {"id": key.account.public_id, "name": key.account.name},
                "key": {
                    "id": key.public_id,
                    "name": key.name,
                    "display": key.display,
                    "scopes": key.scope_names,
                    "expires_at": key.expires_at,
                },
                "plan": key.account.subscription.plan.code,
                "rate_limit": {"limit": key.request_limit, "window": WINDOW_SECONDS},
            }
        )


class CreditsView(ApiView):
    account_relations = ("wallet", "subscription")

    @describe(
        "show-credits",
        "Get the balance",
        "Returns the account's balance, and its next credits.",
        CreditsSerializer,
        tag="Account",
        scope="usage:read",
    )
    def get(self, request: ApiRequest) -> ApiResponse:
        account = request.call.key.account
        wallet, subscription = account.wallet, account.subscription
        amount, day = next_grant(subscription)
        period = period_containing(timezone.now().date(), subscription.started_on)
        return json_response(
            {
                "balance": wallet.balance,
                "held": wallet.held,
                "used_this_period": credits_used_since(account, midnight(period.start)),
                "plan": subscription.plan.code,
                "next_grant": amount,
                "next_grant_at": day and midnight(day),
                "low_balance_threshold": wallet.threshold,
            }
        )
