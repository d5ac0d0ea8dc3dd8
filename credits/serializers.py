"""Describe the responses of the credits API for the OpenAPI schema. Never used to validate data."""

from rest_framework import serializers

SchemaSerializer = serializers.Serializer[None]
PLAN_HELP_TEXT = "The code of its plan: `free`, `starter`, `growth`, `scale`, or one made for you"


class MeAccountSerializer(SchemaSerializer):
    id = serializers.CharField(help_text="`acc_…`")
    name = serializers.CharField(help_text="As its members named it")


class MeKeySerializer(SchemaSerializer):
    id = serializers.CharField(help_text="`key_…`")
    name = serializers.CharField(help_text="Given at its creation")
    display = serializers.CharField(help_text="Its beginning and end: `svc_live_Ab1c…9xYz`")
    expires_at = serializers.DateTimeField(allow_null=True, help_text="Null: it never expires.")


class RateLimitSerializer(SchemaSerializer):
    limit = serializers.IntegerField(help_text="Requests a window, for this key")
    window = serializers.IntegerField(help_text="Seconds")


class MeSerializer(SchemaSerializer):
    account = MeAccountSerializer(help_text="Who pays for requests with this key")
    key = MeKeySerializer(help_text="The key of this request")
    plan = serializers.CharField(help_text=PLAN_HELP_TEXT)
    rate_limit = RateLimitSerializer(help_text="How much it may ask")


class CreditsSerializer(SchemaSerializer):
    balance = serializers.IntegerField(min_value=0, help_text="What is left. It never expires")
    used_this_period = serializers.IntegerField(
        min_value=0, help_text="Credits used since the plan's month began"
    )
    plan = serializers.CharField(help_text=PLAN_HELP_TEXT)
    next_grant = serializers.IntegerField(
        allow_null=True,
        help_text="Credits that the plan's next month brings, once it is paid; Free tops the "
        "balance up to them. Null: none will come by themselves",
    )
    next_grant_at = serializers.DateTimeField(allow_null=True, help_text="When that month begins")
    low_balance_threshold = serializers.IntegerField(
        min_value=0, help_text="When the balance falls to it, owners and Billing get a mail"
    )
