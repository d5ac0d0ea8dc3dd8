import re

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter

from apikeys.errors import REFUSALS, ApiError
from apikeys.request import ApiRequest
from apikeys.rest.request_body import invalid_field, read_object, read_string, refuse_unknown_fields
from apikeys.rest.responses import ApiResponse
from apikeys.rest.schema import describe, named_example
from apikeys.rest.view import ApiView
from credits.permissions import HasCredits
from validation import services
from validation.models import Check
from validation.results.sample_results import EXAMPLES, pending_result
from validation.results.serializers import (
    DEFAULT_TIMEOUT_SECONDS,
    MAX_TIMEOUT_SECONDS,
    ResultSerializer,
    ValidateSerializer,
)
from validation.sandbox_errors import raise_sandbox_error
from validation.validations import Caller, ValidationResponse

MAX_EMAIL_LENGTH = 320
CHECK_FIELDS = ("check", "timeout_s")
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": "^[!-~]{1,255}$", "minLength": 1, "maxLength": 255},
    OpenApiParameter.HEADER,
    description="A retry with the same key and body within 24 hours returns the first response, "
    "byte for byte, and is free.",
    examples=[named_example("One per request", "sign-up-8f14e45f")],
)
REPLAYED = OpenApiParameter(
    "Idempotent-Replayed",
    {"type": "string", "enum": ["true"]},
    OpenApiParameter.HEADER,
    response=[200, 201],
    description="Present, and `true`, if this is the stored response to an earlier request.",
    examples=[named_example("A replay", "true")],
)

COST = OpenApiParameter(
    "X-Credits-Cost",
    {"type": "integer", "minimum": 0},
    OpenApiParameter.HEADER,
    response=[200],
    description="Credits charged for this request.",
    examples=[named_example("A definite verdict", 1)],
)
REMAINING = OpenApiParameter(
    "X-Credits-Remaining",
    {"type": "integer", "minimum": 0},
    OpenApiParameter.HEADER,
    response=[200],
    description="Balance after this request.",
    examples=[named_example("A balance", 4211)],
)
# Only where they are on.
MAILBOX_CHECKS = (
    ' With `"check": "mailbox"`, the mail server is also asked. This needs 2 credits, which are '
    "held until it answers, and costs 2 if it says whether the mailbox exists. Without an answer "
    "within `timeout_s`, the result is pending: get it later by its ID, or wait for the event "
    "`check.completed`."
    if settings.PROBE_MAILBOX_CHECKS
    else ""
)
MAILBOX_EXAMPLES = {"Pending mailbox check": pending_result()} if MAILBOX_CHECKS else {}


class ValidationView(ApiView):
    """Charge for the results of one address or a batch."""

    account_relations = ("wallet",)
    uses_account_slots = False
    billing_classes = [HasCredits]

    caller: Caller
    idempotency_key: str | None
    # Of a mailbox check. Null: only the DNS is asked.
    timeout_seconds: int | None
    replay: ValidationResponse | None = None

    @property
    def check(self) -> Check:
        return Check.DNS if self.timeout_seconds is None else Check.MAILBOX

    def read_options(self, document: dict[str, object]) -> None:
        self.idempotency_key = read_idempotency_key(self.request)
        self.timeout_seconds = read_mailbox_check(document)
        refuse_unavailable(self.check)
        call = self.request.call
        self.caller = Caller(call.key.account, call.key, call.request_id)

    def find_replay(self) -> None:
        if self.idempotency_key is not None:
            self.replay = self.load_replay(self.idempotency_key)
        if self.replay is not None:
            self.request.call.price = 0

    def load_replay(self, idempotency_key: str) -> ValidationResponse | None:
        raise NotImplementedError


class ValidateView(ValidationView):
    email: str

    def prepare(self) -> None:
        document = read_object(self.request)
        try:
            self.email = read_string(document, "email", min_length=1, max_length=MAX_EMAIL_LENGTH)
        except ApiError as error:
            if isinstance(document.get("email", document.get("emails")), list):
                error.message += " For several addresses, use POST /v1/validate/batch."
            raise
        self.read_options(document)
        # Where mailbox checks are off, `check` is accepted, but not offered.
        offered = CHECK_FIELDS if settings.PROBE_MAILBOX_CHECKS else ()
        others = {name: document[name] for name in document if name not in CHECK_FIELDS}
        refuse_unknown_fields(others, "email", *offered)
        self.request.call.price = services.price_of(self.email, self.check)

    def load_replay(self, idempotency_key: str) -> ValidationResponse | None:
        return services.find_replay(
            caller=self.caller, idempotency_key=idempotency_key, email=self.email, check=self.check
        )

    @describe(
        "validate",
        "Validate an address",
        "Returns a verdict for one address. An address with invalid syntax is a result, not an "
        "error. Each check is true, false, or null if it did not run or was inconclusive. "
        "A definite verdict costs 1 credit; unknown is free. "
        "Addresses at `sandbox.test` simulate every result and error for free." + MAILBOX_CHECKS,
        ResultSerializer,
        tag="Validation",
        request=ValidateSerializer,
        parameters=[IDEMPOTENCY_KEY, REPLAYED, COST, REMAINING],
        examples={**EXAMPLES, **MAILBOX_EXAMPLES},
        refusals=REFUSALS,
        scope="validate",
    )
    def post(self, request: ApiRequest) -> ApiResponse:
        if self.replay is not None:
            response = services.replay_response(caller=self.caller, response=self.replay)
        else:
            raise_sandbox_error(self.email, request.call.rate_limit)
            response = self.validate()
        request.call.is_in_request_log = True
        request.call.verdict = response.verdict
        return validation_response(response)

    def validate(self) -> ValidationResponse:
        if self.timeout_seconds is None:
            return services.validate(
                caller=self.caller, email=self.email, idempotency_key=self.idempotency_key
            )
        return services.check_mailbox(
            caller=self.caller,
            email=self.email,
            idempotency_key=self.idempotency_key,
            timeout_seconds=self.timeout_seconds,
        )


def read_mailbox_check(document: dict[str, object]) -> int | None:
    """Return the seconds to wait for a mail server, or None if none is to be asked."""
    check = document.get("check", Check.DNS)
    if not isinstance(check, str) or check not in list(Check):
        raise invalid_field("check", f"check must be one of {', '.join(Check)}.")
    if check == Check.DNS:
        if "timeout_s" in document:
            raise invalid_field("timeout_s", 'timeout_s needs "check": "mailbox".')
        return None
    seconds = document.get("timeout_s", DEFAULT_TIMEOUT_SECONDS)
    if type(seconds) is not int or not 1 <= seconds <= MAX_TIMEOUT_SECONDS:
        message = f"timeout_s must be a number from 1 to {MAX_TIMEOUT_SECONDS}."
        raise invalid_field("timeout_s", message)
    return seconds


def refuse_unavailable(check: str | None) -> None:
    if check == Check.MAILBOX and not settings.PROBE_MAILBOX_CHECKS:
        raise ApiError("mailbox_checks_unavailable", param="check")


def validation_response(response: ValidationResponse) -> ApiResponse:
    headers = {"X-Credits-Cost": str(response.cost), "X-Credits-Remaining": str(response.balance)}
    if response.replayed:
        headers["Idempotent-Replayed"] = "true"
    return ApiResponse(response.body, headers=headers)


def read_idempotency_key(request: ApiRequest) -> str | None:
    key: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
        message = "Idempotency-Key must be 1 to 255 visible ASCII characters."
        raise ApiError("invalid_field", message, param="Idempotency-Key")
    return key
