"""What a key can do with a list: sample, start, pause, resume and cancel it."""

from dataclasses import asdict

from drf_spectacular.utils import OpenApiRequest

from apikeys.actor import Actor
from apikeys.request import ApiRequest
from apikeys.rest.request_body import refuse_unknown_fields
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import describe, named_example
from validation.lists import control
from validation.lists.api.base import LIST_ERRORS, ListView, refuse_unread
from validation.lists.api.documents import list_document
from validation.lists.api.examples import (
    CANCELED_EXAMPLE,
    PAUSED_EXAMPLE,
    QUEUED_EXAMPLE,
    SAMPLE_EXAMPLE,
)
from validation.lists.api.parameters import (
    read_boolean,
    read_optional_number,
    read_optional_object,
)
from validation.lists.api.schema import LIST_ID
from validation.lists.api.serializers import (
    ListSampleSerializer,
    ListSerializer,
    ListStartSerializer,
)
from validation.lists.control import Start
from validation.lists.results.sample import shares_of, take_sample
from validation.lists.uploads.options import MAX_COLUMN

BODY_ERRORS = ("invalid_json", "invalid_field", "unsupported_media_type")
_UNPAID_ERRORS = ("insufficient_credits", "key_credit_limit_reached")
_ACTION_ERRORS = (*LIST_ERRORS, *BODY_ERRORS, "invalid_state")


class ActionView(ListView):
    """An operation that needs no body. An empty object is fine."""

    def prepare(self) -> None:
        refuse_unknown_fields(read_optional_object(self.request))


class SampleView(ActionView):
    @describe(
        "sample-list",
        "Sample a list",
        "Checks 200 random addresses of the list free of charge, and returns the share of each "
        "verdict with its 95% confidence interval, but no single results. A list needs at least "
        "2,000 distinct addresses, and has one sample: later requests return the same. An account "
        "can take five samples in 24 hours.",
        ListSampleSerializer,
        tag="Lists",
        parameters=[LIST_ID],
        examples={"A sample": SAMPLE_EXAMPLE},
        refusals=(*_ACTION_ERRORS, "list_expired"),
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        refuse_unread(self.address_list)
        sample = take_sample(self.address_list)
        shares = {verdict: asdict(share) for verdict, share in shares_of(sample).items()}
        return json_response({"size": sample.size, "created_at": sample.at, "shares": shares})


class StartView(ListView):
    start: Start

    def prepare(self) -> None:
        document = read_optional_object(self.request)
        self.start = Start(
            column=read_optional_number(document, "column", low=0, high=MAX_COLUMN),
            max_credits=read_optional_number(document, "max_credits", low=1, high=(1 << 53) - 1),
            confirm=read_boolean(document, "confirm"),
        )
        refuse_unknown_fields(document, "column", "max_credits", "confirm")

    @describe(
        "start-list",
        "Start a list",
        "Holds the most that the list can cost and queues it. What isn't used returns to the "
        "balance when the list ends. The list must be `ready`. With another `column`, its rows "
        "are counted again, and it starts after that.",
        ListSerializer,
        tag="Lists",
        parameters=[LIST_ID],
        request=OpenApiRequest(
            ListStartSerializer,
            examples=[named_example("A price limit", {"max_credits": 50_000})],
        ),
        examples={"Queued": QUEUED_EXAMPLE},
        refusals=(*_ACTION_ERRORS, "confirmation_required", *_UNPAID_ERRORS),
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        actor = Actor.of_call(request.call)
        started = control.start_list(address_list=self.address_list, start=self.start, actor=actor)
        return json_response(list_document(started))


class PauseView(ActionView):
    @describe(
        "pause-list",
        "Pause a list",
        "Stops a started list within seconds. Its results so far stay, and its credits stay held. "
        "A list that is paused for 30 days is canceled.",
        ListSerializer,
        tag="Lists",
        parameters=[LIST_ID],
        examples={"Paused": PAUSED_EXAMPLE},
        refusals=_ACTION_ERRORS,
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        paused = control.pause_list(
            address_list=self.address_list, actor=Actor.of_call(request.call)
        )
        return json_response(list_document(paused))


class ResumeView(ActionView):
    @describe(
        "resume-list",
        "Resume a list",
        "Continues a paused list where it was. If a refund or a deduction used the credits that "
        "it held, it holds credits for the rest.",
        ListSerializer,
        tag="Lists",
        parameters=[LIST_ID],
        examples={"Queued": QUEUED_EXAMPLE},
        refusals=(*_ACTION_ERRORS, *_UNPAID_ERRORS),
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        resumed = control.resume_list(
            address_list=self.address_list, actor=Actor.of_call(request.call)
        )
        return json_response(list_document(resumed))


class CancelView(ActionView):
    @describe(
        "cancel-list",
        "Cancel a list",
        "Ends a list for good. Its results so far can be downloaded, and the credits that it "
        "still holds return to the balance.",
        ListSerializer,
        tag="Lists",
        parameters=[LIST_ID],
        examples={"Canceled": CANCELED_EXAMPLE},
        refusals=_ACTION_ERRORS,
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        canceled = control.cancel_list(
            address_list=self.address_list, actor=Actor.of_call(request.call)
        )
        return json_response(list_document(canceled))
