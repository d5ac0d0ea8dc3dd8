from datetime import UTC, datetime

from django.core.exceptions import ValidationError
from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import extend_schema_field

from accounts.events.types import types_by_name
from accounts.models import WebhookEndpoint
from accounts.models.webhooks import DeliveryState, DisabledReason
from accounts.webhooks.keys import public_key
from accounts.webhooks.services import GRACE_PERIODS
from accounts.webhooks.targets import MAX_URL_LENGTH
from apikeys.events.serializers import EVENT_ID_EXAMPLE, TypeNames
from apikeys.rest import fields
from apikeys.rest.fields import InvalidValue
from apikeys.rest.serializers import ApiSerializer
from runtime.unicode import validate_line

WEBHOOK_ID_EXAMPLE, DELIVERY_ID_EXAMPLE = "whk_2Jt7NpWsR4vXbQy9GcLm", "dlv_6Nw3KzTgY8rBmXq5HfPs"
_STATES = ("active", "disabled")
_SECONDS = [int(period.total_seconds()) for period in GRACE_PERIODS]
_SECRET = {"secret": "whsec_…"}
WEBHOOK_EXAMPLE = {
    "id": WEBHOOK_ID_EXAMPLE,
    "url": "https://hooks.shop.example/validation",
    "types": ["list.completed", "credits.low"],
    "description": "Shop",
    "state": "active",
    "disabled_reason": None,
    "public_key": "whpk_gq1T8sSPmqGr5G8hBvDgQq8uVYvVKtAmWAbzpfZtU6Q=",
    "created_at": "2026-11-20T18:30:00.123Z",
}
DELIVERY_EXAMPLE = {
    "id": DELIVERY_ID_EXAMPLE,
    "event": EVENT_ID_EXAMPLE,
    "type": "list.completed",
    "state": "waiting",
    "next_attempt_at": "2026-11-20T18:30:05.901Z",
    "attempts": [
        {
            "at": "2026-11-20T18:30:00.512Z",
            "status": 500,
            "error": "status",
            "duration_ms": 87,
            "response": "Internal Server Error",
        }
    ],
}


class Line(fields.String):
    def to_internal_value(self, data: object) -> str:
        text = super().to_internal_value(data)
        try:
            validate_line(text)
        except ValidationError as error:
            raise InvalidValue(f"is invalid: {error.messages[0]}") from None
        return text


class EventTypes(fields.Strings):
    def to_internal_value(self, data: object) -> list[str]:
        types, known = super().to_internal_value(data), types_by_name()
        for index, name in enumerate(types):
            if name not in known:
                raise InvalidValue(f"must be one of {', '.join(known)}.", place=f"[{index}]")
        return [name for name in known if name in types]


@extend_schema_field({"type": "integer", "enum": _SECONDS})
class GracePeriod(fields.Integer):
    def to_internal_value(self, data: object) -> int:
        if type(data) is int and data in _SECONDS:
            return data
        raise InvalidValue(f"must be one of {', '.join(map(str, _SECONDS))}.")


@extend_schema_field({"type": "string", "format": "date-time"})
class Time(fields.String):
    def to_internal_value(self, data: object) -> datetime:  # type: ignore[override]
        try:
            parsed = parse_datetime(data) if isinstance(data, str) else None
            if parsed is not None and parsed.tzinfo is not None:
                return parsed.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise InvalidValue("must be a time such as 2026-11-20T18:30:00Z.")


URL = fields.String(
    "Where to send events: https, port 443 or 8443, and a public host name",
    max_length=MAX_URL_LENGTH,
    check_length=False,
)
TYPES = EventTypes(
    "Types of the events to send. By default, all, including types of the future",
    required=False,
    allow_null=True,
    min_length=1,
    max_length=100,
)
DESCRIPTION = Line("For yourself", required=False, max_length=200)


class WebhookRequestSerializer(ApiSerializer):
    url = URL
    types = TYPES
    description = DESCRIPTION

    examples = {
        "Two types": {name: WEBHOOK_EXAMPLE[name] for name in ("url", "types", "description")}
    }


class WebhookChangesSerializer(ApiSerializer):
    url = fields.String("A new URL", required=False, max_length=MAX_URL_LENGTH, check_length=False)
    types = TYPES
    description = DESCRIPTION
    state = fields.Choice("Whether to send events", _STATES, required=False)

    examples = {"Enable it": {"state": "active"}}


class RotationSerializer(ApiSerializer):
    keep_old_for = GracePeriod("Seconds during which the old keys sign, too")

    examples = {"A day": {"keep_old_for": 86400}}


class FailedSinceSerializer(ApiSerializer):
    failed_since = Time("Replay failed deliveries of events since then")

    examples = {"A day": {"failed_since": "2026-11-20T00:00:00Z"}}


class DeliveriesQuery(ApiSerializer):
    state = fields.Choice(
        "Only deliveries in this state",
        DeliveryState.values,
        example=("Failed deliveries", "failed"),
    )
    type = TypeNames(
        "Only events of these types, separated by commas",
        example=("Completed lists", "list.completed"),
    )
    limit = fields.Integer(
        "Deliveries on a page. Defaults to 20",
        min_value=1,
        max_value=100,
        example=("Ten deliveries", 10),
    )
    starting_after = fields.String(
        "`next` of the page before", example=("The next page", DELIVERY_ID_EXAMPLE)
    )


class PublicKey(fields.String):
    def to_representation(self, value: WebhookEndpoint) -> str:
        return public_key(value)


class WebhookSerializer(ApiSerializer):
    id = fields.String("Webhook ID (`whk_…`)", source="public_id")
    url = fields.String("Where events are sent")
    types = fields.Strings("Types of the events that are sent. Null: all", allow_null=True)
    description = fields.String("Your description")
    state = fields.Choice("Whether events are sent", _STATES)
    disabled_reason = fields.Choice(
        "Why it's disabled: by you (`manual`), because it responded with 410 (`gone`), or because "
        "all attempts failed for five days (`failing`)",
        DisabledReason.values,
        allow_null=True,
    )
    public_key = PublicKey("Verifies the `v1a` signatures", source="*")
    created_at = fields.DateTime("Creation time in UTC")

    examples = {"A webhook": WEBHOOK_EXAMPLE}


class WebhookSecretSerializer(WebhookSerializer):
    secret = fields.String("Verifies the `v1` signatures. It is never shown again")

    examples = {"A webhook": WEBHOOK_EXAMPLE | _SECRET}


class WebhookListSerializer(ApiSerializer):
    # `data` is an attribute of serializers.
    vars()["data"] = WebhookSerializer(many=True, help_text="The webhooks, oldest first")

    examples = {"One webhook": {"data": [WEBHOOK_EXAMPLE]}}


class DeletedWebhookSerializer(ApiSerializer):
    id = fields.String("ID of the webhook")
    deleted = fields.Boolean("Always true")

    examples = {"Deleted": {"id": WEBHOOK_ID_EXAMPLE, "deleted": True}}


class SentTestSerializer(ApiSerializer):
    event = fields.String("ID of the event that is sent (`evt_…`)")

    examples = {"An event": {"event": EVENT_ID_EXAMPLE}}


class AttemptSerializer(ApiSerializer):
    at = fields.DateTime("When it started, in UTC")
    status = fields.Integer(
        "HTTP status of your server's response. Null without one",
        allow_null=True,
        min_value=0,
        max_value=999,
    )
    error = fields.String("Code of what failed. Null after a success", allow_null=True)
    duration_ms = fields.Count("Duration in milliseconds")
    response = fields.String("Start of the response's body, up to 1 KB")


class DeliverySerializer(ApiSerializer):
    id = fields.String("Delivery ID (`dlv_…`)", source="public_id")
    event = fields.String("Event ID (`evt_…`)", source="event.public_id")
    type = fields.String("Type of the event", source="event.type")
    state = fields.Choice("Whether it has arrived", DeliveryState.values)
    next_attempt_at = fields.DateTime("When it's sent next, if it's waiting", allow_null=True)
    attempts = AttemptSerializer(
        many=True, source="delivery_attempts", help_text="All attempts, oldest first"
    )

    examples = {"A delivery": DELIVERY_EXAMPLE}


class DeliveryPageSerializer(ApiSerializer):
    vars()["data"] = DeliverySerializer(many=True, help_text="The deliveries, newest first")
    has_more = fields.Boolean("Whether there are more")
    next = fields.String(
        "Send it as `starting_after` to get the next page. Null on the last page", allow_null=True
    )

    examples = {"A page": {"data": [DELIVERY_EXAMPLE], "has_more": False, "next": None}}


class ReplayedSerializer(ApiSerializer):
    replayed = fields.Count("Number of deliveries that are sent again")

    examples = {"Some": {"replayed": 12}}
