import re

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiRequest
from rest_framework.request import Request

from apikeys.errors import REFUSALS, ApiError
from apikeys.request import ApiHttpRequest, api_key_of, http_request
from apikeys.rest.request_body import read_object, refuse_unknown, take_text
from apikeys.rest.responses import ApiResponse
from apikeys.rest.schema import describe
from apikeys.rest.view import ApiView
from credits.permissions import HasCredits
from validation import services
from validation.request_log.writer import Caller
from validation.sample_results import EXAMPLES
from validation.sandbox_errors import raise_sandbox_error
from validation.serializers import ResultSerializer, ValidateSerializer
from validation.settlement import ValidationResponse

LONGEST_EMAIL = 320
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
AN_ADDRESS = OpenApiExample("An address", {"email": "jane@shop.example"})
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": "^[!-~]{1,255}$", "minLength": 1, "maxLength": 255},
    OpenApiParameter.HEADER,
    description="Sent again within 24 hours with the same address, the request is answered with "
    "the first answer, byte for byte, and costs nothing.",
)
REPLAYED = OpenApiParameter(
    "Idempotent-Replayed",
    {"type": "string", "enum": ["true"]},
    OpenApiParameter.HEADER,
    response=[200],
    description="There, and `true`, when this is the answer to an earlier request.",
)

COST = OpenApiParameter(
    "X-Credits-Cost",
    {"type": "integer", "minimum": 0},
    OpenApiParameter.HEADER,
    response=[200],
    description="The credits that this request cost.",
)
REMAINING = OpenApiParameter(
    "X-Credits-Remaining",
    {"type": "integer", "minimum": 0},
    OpenApiParameter.HEADER,
    response=[200],
    description="The balance after it.",
)


class ValidateView(ApiView):
    reads = ("wallet",)
    billing_classes = [HasCredits]

    asker: Caller
    email: str
    idempotency_key: str | None
    replay: ValidationResponse | None = None

    def prepare(self, request: Request) -> None:
        document = read_object(request)
        self.email = take_text(document, "email", shortest=1, longest=LONGEST_EMAIL)
        self.idempotency_key = _idempotency_key(request)
        refuse_unknown(document, "email")
        key = api_key_of(request)
        self.asker = Caller(key.account, key, http_request(request).id)

    def find_replay(self, request: Request) -> None:
        if self.idempotency_key is not None:
            self.replay = services.find_replay(
                asker=self.asker, idempotency_key=self.idempotency_key, email=self.email
            )

    def price(self, request: Request) -> int:
        return 0 if self.replay else services.price_of(self.email)

    @describe(
        "validate",
        "Validate an address",
        "One address in, one verdict out. A badly written address is no error: it is a result. "
        "Every check is true, false or null, and null means that it was not run or could not tell. "
        "A definite verdict costs 1 credit; an unknown costs nothing. "
        "Addresses at `sandbox.test` answer every result and error on demand, for free.",
        ResultSerializer,
        request=OpenApiRequest(ValidateSerializer, examples=[AN_ADDRESS]),
        parameters=[IDEMPOTENCY_KEY, REPLAYED, COST, REMAINING],
        examples=EXAMPLES,
        refusals=REFUSALS,
    )
    def post(self, request: Request) -> ApiResponse:
        answer = self._answer(http_request(request))
        http_request(request).in_request_log = True
        http_request(request).verdict = answer.verdict
        headers = {"X-Credits-Cost": str(answer.cost), "X-Credits-Remaining": str(answer.balance)}
        if answer.replayed:
            headers["Idempotent-Replayed"] = "true"
        return ApiResponse(answer.body, headers=headers)

    def _answer(self, request: ApiHttpRequest) -> ValidationResponse:
        if self.replay is not None:
            return services.answer_again(asker=self.asker, email=self.email, replayed=self.replay)
        raise_sandbox_error(request, self.email)
        return services.validate(
            asker=self.asker, email=self.email, idempotency_key=self.idempotency_key
        )


def _idempotency_key(request: Request) -> str | None:
    given: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if given is not None and not _IDEMPOTENCY_KEY.fullmatch(given):
        message = "An Idempotency-Key has 1 to 255 visible ASCII characters."
        raise ApiError("invalid_field", message, param="Idempotency-Key")
    return given
