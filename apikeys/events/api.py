import sys

import orjson
from django.http import Http404

from accounts.models import Event
from accounts.models.events import EventQuerySet
from accounts.webhooks.data import EVENT_RETENTION
from apikeys.events import serializers
from apikeys.request import ApiRequest
from apikeys.rest.request_body import invalid_field
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import describe, id_parameter
from apikeys.rest.view import ApiView

EVENT_ID = id_parameter("event", serializers.EVENT_ID_EXAMPLE)
UNKNOWN_CURSOR = (
    f"Your account has no event with this ID. Events are kept for {EVENT_RETENTION.days} days: "
    "send an empty `after` to start with the oldest."
)


class EventsView(ApiView):
    events: EventQuerySet
    limit: int

    def prepare(self) -> None:
        chosen = serializers.EventsQuery.parse_query(self.request)
        self.limit = chosen.get("limit", 20)
        self.events = Event.objects.numbered().filter(account=self.request.call.key.account)
        if "type" in chosen:
            self.events = self.events.filter(type__in=chosen["type"])
        if "after" in chosen:
            if "starting_after" in chosen:
                raise invalid_field("starting_after", "Send after or starting_after, not both.")
            self.events = self.events.reverse()
            if chosen["after"]:
                number = self.find_number("after", chosen["after"])
                self.events = self.events.filter(number__gt=number)
        elif "starting_after" in chosen:
            number = self.find_number("starting_after", chosen["starting_after"])
            self.events = self.events.filter(number__lt=number)

    def find_number(self, param: str, public_id: str) -> int:
        event = find_event(self.request, public_id)
        if event is None:
            raise invalid_field(param, UNKNOWN_CURSOR)
        # An event without a number will be newer than all that have one.
        return event.number or sys.maxsize

    @describe(
        "show-events",
        "List events",
        "Returns what happened in the account during the last 30 days, newest first. With `after`, "
        "it returns what happened since an event, oldest first.",
        serializers.EventPageSerializer,
        tag="Events",
        scope="events:read",
        parameters=[serializers.EventsQuery],
    )
    def get(self, request: ApiRequest) -> ApiResponse:
        found = list(self.events.values_list("public_id", "body")[: self.limit + 1])
        page = found[: self.limit]
        after = page[-1][0] if len(found) > self.limit else None
        data = [orjson.Fragment(body) for _, body in page]
        return json_response({"data": data, "has_more": after is not None, "next": after})


class OneEventView(ApiView):
    body: str

    def find_object(self) -> None:
        event = find_event(self.request, self.kwargs["event_id"])
        if event is None:
            raise Http404
        self.body = event.body

    @describe(
        "show-event",
        "Get an event",
        "Returns an event of the last 30 days, exactly as it is sent to webhooks.",
        serializers.EventSerializer,
        tag="Events",
        scope="events:read",
        parameters=[EVENT_ID],
    )
    def get(self, request: ApiRequest, event_id: str) -> ApiResponse:
        return ApiResponse(self.body.encode())


def find_event(request: ApiRequest, public_id: str) -> Event | None:
    events = Event.objects.filter(account=request.call.key.account_id)
    return events.filter(public_id=public_id.replace("\0", "")).first()
