"""POST /v1/validations/{id}/feedback: say that a verdict is wrong."""

from drf_spectacular.utils import OpenApiRequest

from apikeys.actor import Actor
from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.request_body import read_object, read_string, refuse_unknown_fields
from apikeys.rest.responses import ApiResponse, render
from apikeys.rest.schema import COMMON_ERRORS, describe, named_example
from apikeys.rest.view import ApiView
from validation.feedback.serializers import FeedbackRequestSerializer, FeedbackSerializer
from validation.feedback.services import (
    MAX_BOUNCE_LENGTH,
    MAX_COMMENT_LENGTH,
    Claim,
    find_reportable_result,
    send_feedback,
)
from validation.models import Feedback
from validation.results.api import RESULT_ID

REQUEST_EXAMPLE = {
    "expected": "undeliverable",
    "comment": "We sent a newsletter, and it bounced.",
    "bounce": "550 5.1.1 Mailbox does not exist",
}
NOT_REPORTABLE = "Your account has no stored result with this id from the last 24 hours."
REFUSALS = (
    *COMMON_ERRORS,
    *("invalid_json", "missing_field", "invalid_field", "unsupported_media_type", "not_found"),
)


class FeedbackView(ApiView):
    result: dict[str, object]
    claim: Claim

    def check_method(self) -> None:
        """Find the result first: a 404 precedes a 405."""
        account = self.request.call.key.account
        result = find_reportable_result(account, self.kwargs["result_id"])
        if result is None:
            raise ApiError("not_found", NOT_REPORTABLE)
        self.result = result
        super().check_method()

    def prepare(self) -> None:
        document = read_object(self.request)
        expected = read_string(document, "expected", min_length=1, max_length=20)
        if expected not in Feedback.Expected.values:
            message = f"expected must be one of {', '.join(Feedback.Expected.values)}."
            raise ApiError("invalid_field", message, param="expected")
        self.claim = Claim(
            Feedback.Expected(expected),
            _read_optional(document, "comment", MAX_COMMENT_LENGTH),
            _read_optional(document, "bounce", MAX_BOUNCE_LENGTH),
        )
        refuse_unknown_fields(document, "expected", "comment", "bounce")

    @describe(
        "send-feedback",
        "Send feedback on a verdict",
        "Reports a wrong verdict. Available while the result is stored, for up to 24 hours. This "
        "shares the full address with our staff, who answer by email and on the request's page. "
        "Sending feedback again replaces the earlier one. It is free; an account can send feedback "
        "on 100 results in 24 hours. Feedback on a sandbox result is accepted, but not stored.",
        FeedbackSerializer,
        tag="Validation",
        status=202,
        parameters=[RESULT_ID],
        request=OpenApiRequest(
            FeedbackRequestSerializer, examples=[named_example("A bounce", REQUEST_EXAMPLE)]
        ),
        examples={"Accepted": {"id": "fbk_5Hc9TfWnQ3sEvXy7BgMk", "state": "open"}},
        refusals=REFUSALS,
    )
    def post(self, request: ApiRequest, result_id: str) -> ApiResponse:
        feedback = send_feedback(
            sender=Actor.of_call(request.call), result=self.result, claim=self.claim
        )
        return ApiResponse(render({"id": feedback.public_id, "state": feedback.state}), 202)


def _read_optional(document: dict[str, object], name: str, max_length: int) -> str:
    if document.get(name) is None:
        return ""
    return read_string(document, name, min_length=0, max_length=max_length)
