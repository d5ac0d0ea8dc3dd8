"""The parts of an OpenAPI 3.1 document that this package reads."""

from collections.abc import Mapping
from typing import TypedDict

Schema = TypedDict(
    "Schema",
    {
        "$ref": str,
        "type": str | list[str],
        "description": str,
        "properties": dict[str, "Schema"],
        "additionalProperties": bool,
        "items": "Schema",
        "enum": list[str | None],
        "allOf": list["Schema"],
        "oneOf": list["Schema"],
        "x-spec-enum-id": str,
    },
    total=False,
)
Schemas = dict[str, Schema]
Example = TypedDict("Example", {"$ref": str, "summary": str, "value": object}, total=False)
Parameter = TypedDict(
    "Parameter",
    {
        "name": str,
        "in": str,
        "description": str,
        "schema": Schema,
        "examples": dict[str, Example],
    },
    total=False,
)


class MediaType(TypedDict, total=False):
    schema: Schema
    examples: dict[str, Example]


class Body(TypedDict):
    content: dict[str, MediaType]


Header = TypedDict(
    "Header", {"$ref": str, "description": str, "schema": Schema, "example": object}, total=False
)


class Response(Body, total=False):
    description: str
    headers: dict[str, Header]


class Operation(TypedDict, total=False):
    operationId: str
    summary: str
    description: str
    tags: list[str]
    parameters: list[Parameter]
    requestBody: Body
    responses: dict[str, Response]


class Components(TypedDict):
    examples: dict[str, Example]
    headers: Mapping[str, Header]
    schemas: Schemas


class Tag(TypedDict):
    name: str
    description: str


class Info(TypedDict):
    title: str
    description: str


class Server(TypedDict):
    url: str


class Document(TypedDict):
    info: Info
    servers: list[Server]
    tags: list[Tag]
    paths: dict[str, dict[str, Operation]]
    components: Components


def find_success(operation: Operation) -> tuple[str, Response]:
    """Return the status and the response of a request that succeeds. Each operation has one."""
    return next(item for item in operation["responses"].items() if is_success(item[0]))


def is_success(status: str) -> bool:
    return status.startswith("2")


def only_content(response: Response) -> tuple[str, MediaType]:
    """Return the media type and the content of a response, for a file those of its default."""
    return next(iter(response["content"].items()))
