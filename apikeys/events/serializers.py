from accounts.events.types import types_by_name
from apikeys.rest import fields
from apikeys.rest.fields import InvalidValue
from apikeys.rest.serializers import ApiSerializer

EVENT_ID_EXAMPLE = "evt_7Hs2LqXbT9mWcRz4KdPv"
EVENT_EXAMPLE = {
    "id": EVENT_ID_EXAMPLE,
    "type": "credits.low",
    "timestamp": "2026-11-20T18:30:00.123Z",
    "account_id": "acc_8Jq2LxVbN4tRwYz6KpDm",
    "data": {"balance": 498, "threshold": 500},
}


class TypeNames(fields.String):
    """Names of event types in a query, separated by commas."""

    def parse_text(self, text: str) -> list[str]:
        names, known = text.split(","), types_by_name()
        if not set(names) <= known.keys():
            raise InvalidValue(f"must be one or more of {', '.join(known)}, with commas.")
        return names


class EventsQuery(ApiSerializer):
    type = TypeNames(
        "Only events of these types, separated by commas",
        example=("Events of two types", "credits.low,credits.exhausted"),
    )
    after = fields.String(
        "ID of the last event that you handled: newer ones are returned, oldest first. Empty: "
        "start with the oldest. Not together with `starting_after`",
        example=("Events that you missed", EVENT_ID_EXAMPLE),
    )
    starting_after = fields.String(
        "`next` of the page before", example=("The next page of events", EVENT_ID_EXAMPLE)
    )
    limit = fields.Integer(
        "Events on a page. Defaults to 20", min_value=1, max_value=100, example=("Ten events", 10)
    )


class EventSerializer(ApiSerializer):
    id = fields.String("Event ID (`evt_…`), the same in each delivery to a webhook")
    type = fields.String("What happened. New types may be added")
    timestamp = fields.DateTime("When it happened, in UTC")
    account_id = fields.String("ID of your account (`acc_…`)")
    # `data` is an attribute of serializers.
    vars()["data"] = fields.Object("The fields of the type. A type may get more fields")

    examples = {"An event": EVENT_EXAMPLE}


class EventPageSerializer(ApiSerializer):
    vars()["data"] = EventSerializer(many=True, help_text="The events")
    has_more = fields.Boolean("Whether there are more")
    next = fields.String(
        "The next page's `starting_after`, or `after`. Null on the last page", allow_null=True
    )

    examples = {"A page": {"data": [EVENT_EXAMPLE], "has_more": False, "next": None}}
