from collections.abc import Callable
from dataclasses import asdict
from functools import partial

import orjson
from django.conf import settings

from apikeys.request import ApiRequest
from apikeys.rest.request_body import refuse_unknown_fields
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import BODY_ERRORS
from lists import lifecycle
from lists.api.base import (
    LIST_ID,
    MAILBOX_ERRORS,
    ListView,
    describe_change,
    read_optional_object,
    refuse_unread,
    take_check,
)
from lists.api.documents import list_document
from lists.api.examples import CANCELED_EXAMPLE, COMPLETED_EXAMPLE, PAUSED_EXAMPLE, QUEUED_EXAMPLE
from lists.api.idempotency import IdempotentView
from lists.api.serializers import AddressListSerializer, ListSampleSerializer, ListStartSerializer
from lists.lifecycle import Start
from lists.models import AddressList
from lists.results.sample import bounce_rate_of, shares_of, take_sample
from validation.api import IDEMPOTENCY_KEY, REPLAYED

_UNPAID_ERRORS = ("insufficient_credits", "key_credit_limit_reached")
_MAILBOXES = (
    " A list that only waits for mail servers completes within seconds, too."
    if settings.PROBE_MAILBOX_CHECKS
    else ""
)
_ACTION_ERRORS = (*BODY_ERRORS, "invalid_state")
describe_action = partial(describe_change, result=AddressListSerializer, refusals=_ACTION_ERRORS)


class ActionView(ListView):
    """An operation that needs no body. An empty object is fine."""

    def prepare(self) -> None:
        refuse_unknown_fields(read_optional_object(self.request))

    def perform(self, action: Callable[..., AddressList]) -> ApiResponse:
        changed = action(address_list=self.address_list, actor=self.actor)
        return json_response(list_document(changed))


class SampleView(ActionView):
    @describe_change(
        "sample-list",
        "Sample a list",
        "Checks 200 random addresses of the list free of charge, and returns the share of each "
        "verdict with its 95% confidence interval, but no single results. A list needs at least "
        "2,000 distinct addresses, and has one sample: later requests return the same. An account "
        "can take five samples in 24 hours.",
        ListSampleSerializer,
        refusals=(*_ACTION_ERRORS, "list_expired"),
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        refuse_unread(self.address_list)
        sample = take_sample(self.address_list)
        shares = {verdict: asdict(share) for verdict, share in shares_of(sample).items()}
        return json_response(
            {
                "size": sample.size,
                "created_at": sample.at,
                "shares": shares,
                "bounce_rate": asdict(bounce_rate_of(sample)),
            }
        )


class StartView(IdempotentView, ListView):
    start: Start

    def prepare(self) -> None:
        document = read_optional_object(self.request)
        self.identify_request(orjson.dumps(document))
        check = take_check(document)
        self.start = Start(**ListStartSerializer.parse(document), **check)

    @describe_change(
        "start-list",
        "Start a list",
        "Holds the most that the list can cost and queues it. What isn't used returns to the "
        "balance when the list ends. The list must be `ready`. With another `column`, `encoding` "
        "or `extract`, its rows are counted again, and it starts after that.",
        AddressListSerializer,
        parameters=[LIST_ID, IDEMPOTENCY_KEY, REPLAYED],
        request=ListStartSerializer,
        examples={"Queued": QUEUED_EXAMPLE},
        refusals=(
            *(*_ACTION_ERRORS, "confirmation_required"),
            *(*_UNPAID_ERRORS, "max_credits_exceeded", "idempotency_key_reused"),
            *MAILBOX_ERRORS,
        ),
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        return self.respond_once(
            lambda: lifecycle.start_list(
                address_list=self.address_list, start=self.start, actor=self.actor
            )
        )


class PauseView(ActionView):
    @describe_action(
        "pause-list",
        "Pause a list",
        "Stops a started list within seconds. Its results so far stay, and its credits stay held. "
        "A list that is paused for 30 days is canceled.",
        examples={"Paused": PAUSED_EXAMPLE},
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        return self.perform(lifecycle.pause_list)


class ResumeView(ActionView):
    @describe_action(
        "resume-list",
        "Resume a list",
        "Continues a paused list where it was. If a refund or a deduction used the credits that "
        "it held, it holds credits for the rest.",
        examples={"Queued": QUEUED_EXAMPLE},
        refusals=(*_ACTION_ERRORS, *_UNPAID_ERRORS),
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        return self.perform(lifecycle.resume_list)


class FinishView(ActionView):
    @describe_action(
        "finish-list",
        "Finish a list",
        "Completes a list in the state `rechecking` now, without checking its unknown addresses "
        "again. They stay unknown, and the credits held for them return to the balance."
        f"{_MAILBOXES}",
        examples={"Completed": COMPLETED_EXAMPLE},
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        return self.perform(lifecycle.finish_list)


class CancelView(ActionView):
    @describe_action(
        "cancel-list",
        "Cancel a list",
        "Ends a list for good. Its results so far can be downloaded, and the credits that it "
        "still holds return to the balance. In the state `rechecking`, all results are there, so "
        "the list is completed instead.",
        examples={"Canceled": CANCELED_EXAMPLE},
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        return self.perform(lifecycle.cancel_list)
