from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiRequest

from apikeys.rest.schema import body_of, named_example
from lists.api.uploads.serializers import AddressListRequestSerializer
from lists.uploads.services import MAX_PARTS
from validation.api import IDEMPOTENCY_KEY, REPLAYED

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_TABLE = "name,email\nJane Doe,jane@shop.example\n"


def _file(media_type: str, title: str, text: str) -> OpenApiRequest:
    name = named_example(title, text).name
    example = OpenApiExample(name, text, summary=title, media_type=media_type)
    return OpenApiRequest(OpenApiTypes.BINARY, examples=[example])


CREATE_REQUEST = {
    "application/json": body_of(AddressListRequestSerializer),
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


CREATE_HEADERS = [
    IDEMPOTENCY_KEY,
    REPLAYED,
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
