"""Describe requests and responses for the OpenAPI schema. These serializers validate nothing."""

from rest_framework import serializers

from validation.results.serializers import Described


class DomainsRequestSerializer(Described):
    allowed = serializers.ListField(
        child=serializers.CharField(max_length=300),
        help_text="Domains whose addresses you accept at sign-up",
    )
    denied = serializers.ListField(
        child=serializers.CharField(max_length=300),
        help_text="Domains whose addresses you reject",
    )


class DomainsSerializer(Described):
    allowed = serializers.ListField(
        child=serializers.CharField(), help_text="Allowed domains in lowercase ASCII"
    )
    denied = serializers.ListField(
        child=serializers.CharField(),
        help_text="Denied domains in lowercase ASCII. A domain on both lists is denied",
    )
