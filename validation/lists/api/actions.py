"""What a key can do with a list: sample, start, pause, resume and cancel it."""

from dataclasses import asdict

from apikeys.request import ApiRequest
from apikeys.rest.request_body import refuse_unknown_fields
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import describe
from validation.lists.api.base import LIST_ERRORS, ListView, refuse_unread
from validation.lists.api.examples import SAMPLE_EXAMPLE
from validation.lists.api.parameters import read_optional_object
from validation.lists.api.schema import LIST_ID
from validation.lists.api.serializers import ListSampleSerializer
from validation.lists.sample import shares_of, take_sample


class ActionView(ListView):
    """An operation that needs no body. An empty object is fine."""

    def prepare(self) -> None:
        refuse_unknown_fields(read_optional_object(self.request))


BODY_ERRORS = ("invalid_json", "invalid_field", "unsupported_media_type")


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
        refusals=(*LIST_ERRORS, *BODY_ERRORS, "invalid_state", "list_expired"),
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        refuse_unread(self.address_list)
        sample = take_sample(self.address_list)
        shares = {verdict: asdict(share) for verdict, share in shares_of(sample).items()}
        return json_response({"size": sample.size, "created_at": sample.at, "shares": shares})
