"""Describe the bodies of uploads for the OpenAPI schema. These serializers validate nothing."""

from rest_framework import serializers

from validation.lists.uploads.options import MAX_COLUMN, MAX_CREDITS, MAX_NAME_LENGTH
from validation.models.lists import Dedupe
from validation.results.serializers import Described


class ListRequestSerializer(Described):
    name = serializers.CharField(
        required=False,
        max_length=MAX_NAME_LENGTH,
        help_text="A name to find the list by. Defaults to the time",
    )
    emails = serializers.ListField(
        child=serializers.CharField(max_length=320, trim_whitespace=False, allow_blank=True),
        required=False,
        min_length=1,
        max_length=10_000,
        help_text="The addresses, one per row. Required without `parts`",
    )
    parts = serializers.BooleanField(
        required=False, help_text="Create an empty list, whose file you upload in parts"
    )
    column = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_COLUMN,
        help_text="With `parts`: the column with the addresses, counted from 0. By default, the "
        "column that looks most like addresses",
    )
    header = serializers.BooleanField(
        required=False,
        allow_null=True,
        help_text="With `parts`: whether the first row is a header. By default, this is found out",
    )
    delimiter = serializers.CharField(
        required=False,
        max_length=1,
        trim_whitespace=False,
        help_text="With `parts`: the character between columns. By default, this is found out",
    )
    dedupe = serializers.ChoiceField(
        Dedupe.values, required=False, help_text="Which rows are duplicates. Defaults to `address`"
    )
    recheck_unknown = serializers.BooleanField(
        required=False,
        help_text="Check unknown addresses again before the list completes. Defaults to true",
    )
    start = serializers.BooleanField(
        required=False, help_text="Start the list when it is ready. Defaults to false"
    )
    max_credits = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_CREDITS,
        help_text="Don't start if the list can cost more",
    )
    metadata = serializers.DictField(
        child=serializers.CharField(max_length=500, allow_blank=True),
        required=False,
        help_text="Up to 20 names with texts of your own",
    )


class ListPartSerializer(Described):
    number = serializers.IntegerField(min_value=1, help_text="Number of the part")
    bytes = serializers.IntegerField(min_value=1, help_text="Size of the part")
    sha256 = serializers.CharField(help_text="SHA-256 digest of the part in hexadecimal")
