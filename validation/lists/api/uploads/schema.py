"""The parameters and bodies of uploads, as the OpenAPI document describes them."""

from collections.abc import Mapping

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiRequest

from apikeys.rest.schema import named_example
from validation.lists.api.uploads.serializers import ListRequestSerializer
from validation.lists.services import MAX_PARTS
from validation.lists.uploads.options import MAX_COLUMN, MAX_NAME_LENGTH
from validation.models.lists import Dedupe

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_TABLE = "name,email\nJane Doe,jane@shop.example\n"


def _file(media_type: str, title: str, text: str) -> OpenApiRequest:
    name = named_example(title, text).name
    example = OpenApiExample(name, text, summary=title, media_type=media_type)
    return OpenApiRequest(OpenApiTypes.BINARY, examples=[example])


CREATE_REQUEST = {
    "application/json": OpenApiRequest(
        ListRequestSerializer,
        examples=[
            named_example(
                "Two addresses in a list",
                {"name": "Spring", "emails": ["jane@shop.example", "deliverable@sandbox.test"]},
            ),
            named_example("A file in parts", {"name": "customers.csv", "parts": True}),
        ],
    ),
    "text/csv": _file("text/csv", "A table", _TABLE),
    "text/tab-separated-values": _file(
        "text/tab-separated-values", "A table with tabs", _TABLE.replace(",", "\t")
    ),
    "text/plain": _file("text/plain", "One address per line", "jane@shop.example\n"),
    XLSX: _file(XLSX, "The bytes of a spreadsheet", "PK…"),
}
PART_REQUEST = {
    "application/octet-stream": _file("application/octet-stream", "The bytes of a part", _TABLE)
}


def _query(
    name: str, schema: Mapping[str, object], text: str, title: str, value: object
) -> OpenApiParameter:
    examples = [named_example(title, value)]
    return OpenApiParameter(name, dict(schema), description=text, examples=examples)


_BOOLEAN = {"type": "boolean"}
CREATE_PARAMETERS = [
    _query(
        "name",
        {"type": "string", "maxLength": MAX_NAME_LENGTH},
        "Only for a file: the name of the list. Defaults to the time",
        "A file name",
        "customers.csv",
    ),
    _query(
        "column",
        {"type": "integer", "minimum": 0, "maximum": MAX_COLUMN},
        "Only for a file: the column with the addresses, counted from 0. By default, the column "
        "that looks most like addresses",
        "The third column",
        2,
    ),
    _query(
        "header",
        _BOOLEAN,
        "Only for a file: whether the first row is a header. By default, this is found out",
        "With a header",
        True,
    ),
    _query(
        "delimiter",
        {"type": "string", "minLength": 1, "maxLength": 1},
        "Only for a file: the character between columns. By default, this is found out",
        "Semicolons",
        ";",
    ),
    _query(
        "dedupe",
        {"type": "string", "enum": Dedupe.values},
        "Only for a file: which rows are duplicates. Defaults to `address`",
        "Aliases are duplicates",
        "mailbox",
    ),
    _query(
        "recheck_unknown",
        _BOOLEAN,
        "Only for a file: check unknown addresses again before the list completes. Defaults to "
        "`true`",
        "Without rechecks",
        False,
    ),
    _query(
        "start",
        _BOOLEAN,
        "Only for a file: start the list when it is ready. Defaults to `false`",
        "Start the list",
        True,
    ),
    _query(
        "max_credits",
        {"type": "integer", "minimum": 1},
        "Only for a file: don't start the list if it can cost more",
        "A limit",
        5000,
    ),
    OpenApiParameter(
        "Idempotency-Key",
        {"type": "string", "pattern": "^[!-~]{1,255}$", "minLength": 1, "maxLength": 255},
        OpenApiParameter.HEADER,
        description="A retry with the same key and body within 24 hours creates no second list and "
        "returns the first response, byte for byte.",
        examples=[named_example("One per list", "customers-2026-11")],
    ),
    OpenApiParameter(
        "Idempotent-Replayed",
        {"type": "string", "enum": ["true"]},
        OpenApiParameter.HEADER,
        response=[201],
        description="Present, and `true`, if this is the stored response to an earlier request.",
        examples=[named_example("A replayed list", "true")],
    ),
    OpenApiParameter(
        "Location",
        {"type": "string"},
        OpenApiParameter.HEADER,
        response=[201],
        description="The path of the list.",
        examples=[named_example("Path of a list", "/v1/lists/lst_4Fq8ZnWcR2tKvYx6BdJm")],
    ),
]
PART_NUMBER = OpenApiParameter(
    "number",
    {"type": "integer", "minimum": 1, "maximum": MAX_PARTS},
    OpenApiParameter.PATH,
    description="Number of the part, from 1",
    examples=[named_example("The first part", 1)],
)
CONTENT_DIGEST = OpenApiParameter(
    "Content-Digest",
    {"type": "string"},
    OpenApiParameter.HEADER,
    required=True,
    description="SHA-256 digest of the body, as in RFC 9530. `Digest` of RFC 3230 is fine, too",
    examples=[named_example("A digest", "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:")],
)
