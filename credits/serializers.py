"""Describe the responses of the credits API for the OpenAPI schema. Never used to validate data."""

from rest_framework import serializers

SchemaSerializer = serializers.Serializer[None]
PLAN_HELP_TEXT = "The plan's code: `free`, `starter`, `growth`, `scale`, or a custom one"


class MeAccountSerializer(SchemaSerializer):
    id = serializers.CharField(help_text="`acc_…`")
    name = serializers.CharField(help_text="The account's name")


class MeKeySerializer(SchemaSerializer):
    id = serializers.CharField(help_text="`key_…`")
    name = serializers.CharField(help_text="The key's name")
    display = serializers.CharField(help_text="Its first and last characters: `svc_live_Ab1c…9xYz`")
    expires_at = serializers.DateTimeField(allow_null=True, help_text="Null if it never expires")


class RateLimitSerializer(SchemaSerializer):
    limit = serializers.IntegerField(help_text="Requests per window, for this key")
    window = serializers.IntegerField(help_text="Length of the window in seconds")


class MeSerializer(SchemaSerializer):
    account = MeAccountSerializer(help_text="The account that pays for this key's requests")
    key = MeKeySerializer(help_text="The key of this request")
    plan = serializers.CharField(help_text=PLAN_HELP_TEXT)
    rate_limit = RateLimitSerializer(help_text="The rate limit of this key")


class CreditsSerializer(SchemaSerializer):
    balance = serializers.IntegerField(
        min_value=0, help_text="Credits you can spend. They never expire"
    )
    held = serializers.IntegerField(
        min_value=0,
        help_text="Credits held for lists in progress. What they don't use returns to the balance",
    )
    used_this_period = serializers.IntegerField(
        min_value=0, help_text="Credits used since the plan's month began"
    )
    plan = serializers.CharField(help_text=PLAN_HELP_TEXT)
    next_grant = serializers.IntegerField(
        allow_null=True,
        help_text="Credits for the plan's next month, once it is paid. On Free, the amount that "
        "the balance is topped up to. Null if no credits are scheduled",
    )
    next_grant_at = serializers.DateTimeField(
        allow_null=True, help_text="When that month begins, or null"
    )
    low_balance_threshold = serializers.IntegerField(
        min_value=0, help_text="We email owners and billing members when the balance falls to this"
    )
