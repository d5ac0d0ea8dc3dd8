"""What POST /v1/validate/batch reads and returns. Its view renders without these."""

from django.conf import settings

from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from validation.api import MAX_EMAIL_LENGTH
from validation.batches.services import MAX_ADDRESSES
from validation.results.serializers import CHECK, TIMEOUT, ResultCreditsSerializer, ResultSerializer


class BatchRequestSerializer(ApiSerializer):
    emails = fields.Strings(
        "The addresses to validate. Spaces around them are not trimmed",
        child=fields.String(min_length=1, max_length=MAX_EMAIL_LENGTH),
        min_length=1,
        max_length=MAX_ADDRESSES,
    )
    if settings.PROBE_MAILBOX_CHECKS:
        check = CHECK
        timeout_s = TIMEOUT

    examples = {"Two addresses": {"emails": ["jane@shop.example", "deliverable@sandbox.test"]}}


class BatchResultSerializer(ResultSerializer):
    duplicate_of = fields.Count(
        "Index of the same address earlier in the batch, whose result this repeats for "
        "free. Null for all others",
        allow_null=True,
    )


class BatchSummarySerializer(ApiSerializer):
    deliverable = fields.Count("Number of deliverable results")
    risky = fields.Count("Number of risky results")
    undeliverable = fields.Count("Number of undeliverable results")
    unknown = fields.Count("Number of unknown results, which are free")
    duplicates = fields.Count("Number of repeated addresses, which the other counts leave out")


class BatchSerializer(ApiSerializer):
    id = fields.String("Batch ID (`bat_…`). Include it when you contact support")
    created_at = fields.DateTime("Creation time in UTC")
    results = BatchResultSerializer(many=True, help_text="One result per address, in their order")
    summary = BatchSummarySerializer(help_text="Counts of distinct addresses by verdict")
    duration_ms = fields.Count("Duration of all checks in milliseconds")
    credits = ResultCreditsSerializer(help_text="Credits charged for the batch and remaining")
