from apikeys.request import ApiRequest
from apikeys.rest.request_body import missing_field, read_object
from apikeys.rest.responses import ApiResponse
from apikeys.rest.schema import describe
from apikeys.throttling.throttles import consume_for_batch
from validation.api import (
    CHECK_FIELDS,
    COST,
    IDEMPOTENCY_KEY,
    REMAINING,
    REPLAYED,
    ValidationView,
    validation_response,
)
from validation.batches import services
from validation.batches.serializers import BatchRequestSerializer, BatchSerializer
from validation.results.sample_results import BATCH_EXAMPLE
from validation.validations import ValidationResponse

REFUSALS = (
    *("batch_larger_than_limit", "insufficient_credits", "key_credit_limit_reached"),
    "idempotency_key_reused",
)


class ValidateBatchView(ValidationView):
    emails: list[str]

    def prepare(self) -> None:
        document = read_object(self.request)
        if "emails" not in document:
            raise missing_field("emails")
        self.read_options(document)
        emails = {name: value for name, value in document.items() if name not in CHECK_FIELDS}
        self.emails = BatchRequestSerializer.parse(emails)["emails"]
        consume_for_batch(self.request.call, len(self.emails))
        self.request.call.price = services.price_of_batch(self.emails, self.check)

    def load_replay(self, idempotency_key: str) -> ValidationResponse | None:
        return services.find_replay(
            caller=self.caller,
            idempotency_key=idempotency_key,
            emails=self.emails,
            check=self.check,
        )

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
