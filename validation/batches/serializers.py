"""Describe a batch's request and response for the OpenAPI schema. These validate nothing."""

from rest_framework import serializers

from validation.results.serializers import Described, ResultCreditsSerializer, ResultSerializer


class BatchRequestSerializer(Described):
    emails = serializers.ListField(
        child=serializers.CharField(min_length=1, max_length=320, trim_whitespace=False),
        min_length=1,
        max_length=100,
        help_text="The addresses to validate. Spaces around them are not trimmed",
    )


class BatchResultSerializer(ResultSerializer):
    duplicate_of = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="Index of the same address earlier in the batch, whose result this repeats for "
        "free. Null for all others",
    )


class BatchSummarySerializer(Described):
    deliverable = serializers.IntegerField(min_value=0, help_text="Number of deliverable results")
    risky = serializers.IntegerField(min_value=0, help_text="Number of risky results")
    undeliverable = serializers.IntegerField(
        min_value=0, help_text="Number of undeliverable results"
    )
    unknown = serializers.IntegerField(
        min_value=0, help_text="Number of unknown results, which are free"
    )
    duplicates = serializers.IntegerField(
        min_value=0, help_text="Number of repeated addresses, which the other counts leave out"
    )


class BatchSerializer(Described):
    id = serializers.CharField(help_text="Batch ID (`bat_…`). Include it when you contact support")
    created_at = serializers.DateTimeField(help_text="Creation time in UTC")
    results = BatchResultSerializer(many=True, help_text="One result per address, in their order")
    summary = BatchSummarySerializer(help_text="Counts of distinct addresses by verdict")
    duration_ms = serializers.IntegerField(
        min_value=0, help_text="Duration of all checks in milliseconds"
    )
    credits = ResultCreditsSerializer(help_text="Credits charged for the batch and remaining")
