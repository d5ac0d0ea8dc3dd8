"""Serializers that only describe responses in the OpenAPI document; they validate nothing."""

from rest_framework import serializers

from apikeys.errors import REFUSALS


class RefusalSerializer(serializers.Serializer[None]):
    type = serializers.ChoiceField(
        sorted({refusal.type for refusal in REFUSALS.values()}),
        help_text="The category of the code, for clients that handle a whole category the same way",
    )
    code = serializers.CharField(
        help_text="Stable, so your code can depend on it. New codes may be added"
    )
    message = serializers.CharField(help_text="An explanation for people. The wording may change")
    param = serializers.CharField(
        allow_null=True, help_text="The field or header that caused the error, if any"
    )
    details = serializers.DictField(
        help_text="Details that depend on the code: see the errors page"
    )
    doc_url = serializers.URLField(help_text="The documentation of this code")
    request_id = serializers.CharField(
        help_text="The same as in X-Request-Id. Include it when you contact support"
    )


class ErrorSerializer(serializers.Serializer[None]):
    error = RefusalSerializer()
