"""Serializers that only describe responses in the OpenAPI document; they validate nothing."""

from rest_framework import serializers

from apikeys.errors import REFUSALS


class RefusalSerializer(serializers.Serializer[None]):
    type = serializers.ChoiceField(
        sorted({refusal.type for refusal in REFUSALS.values()}),
        help_text="The family of the code, for clients that treat a family alike",
    )
    code = serializers.CharField(
        help_text="Stable: build on it. New codes may come, none changes its meaning"
    )
    message = serializers.CharField(help_text="A sentence for people. It may be reworded")
    param = serializers.CharField(
        allow_null=True, help_text="The field or header that is wrong, if it is one"
    )
    details = serializers.DictField(help_text="More, by code: see the errors page")
    doc_url = serializers.URLField(help_text="Cause and cure of this code")
    request_id = serializers.CharField(help_text="The same as in X-Request-Id; name it to support")


class ErrorSerializer(serializers.Serializer[None]):
    error = RefusalSerializer()
