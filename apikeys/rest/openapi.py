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
    },
    total=False,
)
Schemas = dict[str, Schema]
Parameter = TypedDict(
    "Parameter", {"name": str, "in": str, "description": str, "schema": Schema}, total=False
)


class Example(TypedDict, total=False):
    summary: str
    value: object


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
    parameters: list[Parameter]
    requestBody: Body
    responses: dict[str, Response]


class Components(TypedDict):
    headers: Mapping[str, Header]
    schemas: Schemas


class Document(TypedDict):
    paths: dict[str, dict[str, Operation]]
    components: Components
