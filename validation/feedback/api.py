from typing import Any

from apikeys.actor import Actor
from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.request_body import read_object
from apikeys.rest.responses import ApiResponse
from apikeys.rest.schema import describe
from apikeys.rest.view import ApiView
from runtime.json_text import render_json
from validation.feedback.serializers import FeedbackRequestSerializer, FeedbackSerializer
from validation.feedback.services import find_reportable_result, send_feedback
from validation.results.api import RESULT_ID

NOT_REPORTABLE = "Your account has no stored result with this id from the last 24 hours."


class FeedbackView(ApiView):
    result: dict[str, object]
    chosen: dict[str, Any]

    def find_object(self) -> None:
        account = self.request.call.key.account
        result = find_reportable_result(account, self.kwargs["result_id"])
        if result is None:
            raise ApiError("not_found", NOT_REPORTABLE)
        self.result = result

    def prepare(self) -> None:
        self.chosen = FeedbackRequestSerializer.parse(read_object(self.request))

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
        request=FeedbackRequestSerializer,
        scope="validate",
    )
    def post(self, request: ApiRequest, result_id: str) -> ApiResponse:
        sender = Actor.of_call(request.call)
        feedback = send_feedback(sender=sender, result=self.result, **self.chosen)
        return ApiResponse(render_json({"id": feedback.public_id, "state": feedback.state}), 202)
