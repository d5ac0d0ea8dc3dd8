from apikeys.crypto import PREFIX
from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from apikeys.throttling.limits import WINDOW_SECONDS

PLAN = "The plan's code: `free`, `starter`, `growth`, `scale`, or a custom one"


class MeAccountSerializer(ApiSerializer):
    id = fields.String("`acc_…`")
    name = fields.String("The account's name")


class MeKeySerializer(ApiSerializer):
    id = fields.String("`key_…`")
    name = fields.String("The key's name")
    display = fields.String("Its first and last characters: `svc_live_Ab1c…9xYz`")
    scopes = fields.Strings(
        "Null: full access, including scopes that are added later", allow_null=True
    )
    expires_at = fields.DateTime("Null if it never expires", allow_null=True)


class RateLimitSerializer(ApiSerializer):
    limit = fields.Integer("Requests per window, for this key")
    window = fields.Integer("Length of the window in seconds")


class MeSerializer(ApiSerializer):
    account = MeAccountSerializer(help_text="The account that pays for this key's requests")
    key = MeKeySerializer(help_text="The key of this request")
    plan = fields.String(PLAN)
    rate_limit = RateLimitSerializer(help_text="The rate limit of this key")

    examples = {
        "A key that doesn't expire": {
            "account": {"id": "acc_8Jq2LxVbN4tRwYz6KpDm", "name": "Example Shop"},
            "key": {
                "id": "key_5Hc9TfWnQ3sEvXy7BgMk",
                "name": "Sign-up form",
                "display": f"{PREFIX}Ab1c…9xYz",
                "scopes": ["validate"],
                "expires_at": None,
            },
            "plan": "free",
            "rate_limit": {"limit": 60, "window": WINDOW_SECONDS},
        }
    }


class CreditsSerializer(ApiSerializer):
    balance = fields.Count("Credits you can spend. They never expire")
    held = fields.Count(
        "Credits held for work in progress. What they don't use returns to the balance"
    )
    used_this_period = fields.Count("Credits used since the plan's month began")
    plan = fields.String(PLAN)
    next_grant = fields.Integer(
        "Credits for the plan's next month, once it is paid. On Free, the amount that the balance "
        "is topped up to. Null if no credits are scheduled",
        allow_null=True,
    )
    next_grant_at = fields.DateTime("When that month begins, or null", allow_null=True)
    low_balance_threshold = fields.Count(
        "We email owners and billing members when the balance falls to this"
    )

    examples = {
        "On the Starter plan": {
            "balance": 4211,
            "held": 0,
            "used_this_period": 789,
            "plan": "starter",
            "next_grant": 5000,
            "next_grant_at": "2026-12-21T00:00:00.000Z",
            "low_balance_threshold": 500,
        }
    }
