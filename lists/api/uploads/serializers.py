"""ListOptions checks the lengths, as pages have the same options."""

from django.conf import settings

from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from lists.api.serializers import (
    CHECK_FIELD,
    ENCODING_FIELD,
    EXTRACT_FIELD,
    MAX_CREDITS_FIELD,
    METADATA_FIELD,
)
from lists.models.lists import Dedupe
from lists.uploads.options import MAX_COLUMN, MAX_NAME_LENGTH
from lists.uploads.services import MAX_EMAILS, MAX_PARTS
from validation.api import MAX_EMAIL_LENGTH


class AddressListRequestSerializer(ApiSerializer):
    name = fields.String(
        "A name to find the list by. Defaults to the time",
        required=False,
        max_length=MAX_NAME_LENGTH,
        check_length=False,
        example=("A file name", "customers.csv"),
    )
    emails = fields.Strings(
        "The addresses, one per row. Required without `parts`",
        child=fields.String(max_length=MAX_EMAIL_LENGTH, allow_blank=True),
        required=False,
        min_length=1,
        max_length=MAX_EMAILS,
    )
    parts = fields.Boolean("Create an empty list, whose file you upload in parts", required=False)
    column = fields.Integer(
        "Only for a file: the column with the addresses, counted from 0. By default, the column "
        "that looks most like addresses",
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_COLUMN,
        example=("The third column", 2),
    )
    header = fields.Boolean(
        "Only for a file: whether the first row is a header. By default, this is found out",
        required=False,
        allow_null=True,
        source="has_header",
        example=("With a header", True),
    )
    delimiter = fields.String(
        "Only for a file: the character between columns. By default, this is found out",
        required=False,
        max_length=1,
        check_length=False,
        example=("Semicolons", ";"),
    )
    encoding = ENCODING_FIELD
    extract = EXTRACT_FIELD
    dedupe = fields.Choice(
        "Which rows are duplicates. Defaults to `address`",
        Dedupe.values,
        required=False,
        example=("Aliases are duplicates", "mailbox"),
    )
    recheck_unknown = fields.Boolean(
        "Check unknown addresses again before the list completes. Defaults to true",
        required=False,
        source="rechecks_unknown",
        example=("Without rechecks", False),
    )
    if settings.PROBE_MAILBOX_CHECKS:
        check = CHECK_FIELD
    start = fields.Boolean(
        "Start the list when it is ready. Defaults to false",
        required=False,
        source="starts_when_ready",
        example=("Start the list", True),
    )
    max_credits = MAX_CREDITS_FIELD
    metadata = METADATA_FIELD

    examples = {
        "Two addresses in a list": {
            "name": "Spring",
            "emails": ["jane@shop.example", "deliverable@sandbox.test"],
        },
        "A file in parts": {"name": "customers.csv", "parts": True},
    }


# What each way to create a list accepts. None removes a field.


class AddressesRequest(AddressListRequestSerializer):
    column = header = delimiter = encoding = None  # type: ignore[assignment]


class PartsRequest(AddressListRequestSerializer):
    emails = None  # type: ignore[assignment]


class FileQuery(AddressListRequestSerializer):
    emails = parts = None  # type: ignore[assignment]


class ListPartSerializer(ApiSerializer):
    number = fields.Integer("Number of the part", min_value=1)
    bytes = fields.Integer("Size of the part", min_value=1)
    sha256 = fields.String("SHA-256 digest of the part in hexadecimal")

    examples = {
        "A part": {
            "number": 1,
            "bytes": 8_388_608,
            "sha256": "44aff4ab2d7c3250525675a08f0cfa9591168cffe51791c5f5bbc417c15a6c38",
        }
    }


class ListPartPageSerializer(ApiSerializer):
    # `data` is an attribute of serializers.
    vars()["data"] = ListPartSerializer(many=True, help_text="The parts, by number")
    has_more = fields.Boolean("Whether there are more. Send the last number as `starting_after`")

    examples = {"One part": {"data": [ListPartSerializer.examples["A part"]], "has_more": False}}


class ListPartsQuery(ApiSerializer):
    limit = fields.Integer(
        "Number of parts on a page. Defaults to 1000",
        min_value=1,
        max_value=1000,
        example=("A page of ten parts", 10),
    )
    starting_after = fields.Integer(
        "Number of the last part of the page before",
        min_value=0,
        max_value=MAX_PARTS,
        example=("The second page of parts", 1000),
    )
