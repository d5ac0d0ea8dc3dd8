from django.conf import settings

from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.request_body import read_object
from apikeys.rest.responses import ApiResponse
from apikeys.rest.schema import describe
from apikeys.rest.view import ApiView
from apikeys.throttling.throttles import consume_for_batch
from credits.permissions import HasCredits
from validation.api import (
    CHECK_FIELDS,
    COST,
    IDEMPOTENCY_KEY,
    REMAINING,
    REPLAYED,
    read_idempotency_key,
    read_mailbox_check,
    validation_response,
)
from validation.batches import services
from validation.batches.serializers import BatchRequestSerializer, BatchSerializer
from validation.charging.settlement import ValidationResponse
from validation.models import Check
from validation.request_log.writer import Caller
from validation.results.sample_results import BATCH_EXAMPLE

REFUSALS = (
    *("batch_larger_than_limit", "insufficient_credits", "key_credit_limit_reached"),
    "idempotency_key_reused",
)


class ValidateBatchView(ApiView):
    account_relations = ("wallet",)
    uses_account_slots = False
    billing_classes = [HasCredits]

    caller: Caller
    emails: list[str]
    idempotency_key: str | None
    timeout_seconds: int | None
    replay: ValidationResponse | None = None

    def prepare(self) -> None:
        document = read_object(self.request)
        emails = {name: value for name, value in document.items() if name not in CHECK_FIELDS}
        self.emails = BatchRequestSerializer.parse(emails)["emails"]
        self.timeout_seconds = read_mailbox_check(document)
        if self.check == Check.MAILBOX and not settings.PROBE_MAILBOX_CHECKS:
            raise ApiError("mailbox_checks_unavailable", param="check")
        self.idempotency_key = read_idempotency_key(self.request)
        call = self.request.call
        consume_for_batch(call, len(self.emails))
        self.caller = Caller(call.key.account, call.key, call.request_id)
        call.price = services.price_of_batch(self.emails, self.check)

    @property
    def check(self) -> Check:
        return Check.DNS if self.timeout_seconds is None else Check.MAILBOX

    def find_replay(self) -> None:
        if self.idempotency_key is not None:
            self.replay = services.find_replay(
                caller=self.caller,
                idempotency_key=self.idempotency_key,
                emails=self.emails,
                check=self.check,
            )
        if self.replay is not None:
            self.request.call.price = 0

    @describe(
        "validate-batch",
        "Validate a batch of addresses",
        "Returns a verdict for each of up to 100 addresses, in their order. Repeated addresses are "
        "validated and charged once. Each address counts as one request of the rate limit. The "
        "whole batch is charged, or nothing. Unknown results and the sandbox are free.",
        BatchSerializer,
        tag="Validation",
        request=BatchRequestSerializer,
        parameters=[IDEMPOTENCY_KEY, REPLAYED, COST, REMAINING],
        examples={"Two addresses": BATCH_EXAMPLE},
        refusals=REFUSALS,
        scope="validate",
    )
    def post(self, request: ApiRequest) -> ApiResponse:
        if self.replay is not None:
            response = services.replay_batch(caller=self.caller, response=self.replay)
        else:
            response = services.validate_batch(
                caller=self.caller,
                emails=self.emails,
                idempotency_key=self.idempotency_key,
                timeout_seconds=self.timeout_seconds,
            )
        request.call.is_in_request_log = True
        return validation_response(response)
