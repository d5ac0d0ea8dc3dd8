from functools import partial
from typing import Any

from drf_spectacular.utils import OpenApiParameter

from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import describe, named_example
from apikeys.rest.view import ApiView
from validation.ids import RESULT_ID_PATTERN, is_result_id
from validation.results import pending, stored_results
from validation.results.sample_results import mistyped_result
from validation.results.serializers import ResultSerializer

RESULT_ID = OpenApiParameter(
    "result_id",
    {"type": "string", "pattern": f"^{RESULT_ID_PATTERN}$"},
    OpenApiParameter.PATH,
    description="ID of the result",
    examples=[named_example("A result", mistyped_result()["id"])],
)
NOT_STORED = (
    "Your account has no stored result with this id. Results are stored for a limited time, and "
    "not at all if your account stores no requests."
)


def find_result(request: ApiRequest, result_id: str) -> dict[str, Any]:
    account = request.call.key.account
    document = None
    if is_result_id(result_id):
        find = partial(
            stored_results.find_result, account, result_id, balance=account.wallet.balance
        )
        document = find()
        if document and pending.is_pending(document) and not pending.refresh(document):
            # It was finished since.
            document = find()
    if document is None:
        raise ApiError("not_found", NOT_STORED)
    return document


class ResultView(ApiView):
    account_relations = ("wallet",)

    document: dict[str, Any]

    def find_object(self) -> None:
        self.document = find_result(self.request, self.kwargs["result_id"])

    @describe(
        "show-result",
        "Get a result",
        "Returns the result of an earlier validation again, for 24 hours and free of charge: for "
        "example if its response was lost on the way to you. `credits.remaining` is your balance "
        "now. Results of batches are returned one by one, without `duplicate_of`.",
        ResultSerializer,
        tag="Validation",
        parameters=[RESULT_ID],
        examples={"A result": mistyped_result()},
        scope="validate",
    )
    def get(self, request: ApiRequest, result_id: str) -> ApiResponse:
        return json_response(self.document)
