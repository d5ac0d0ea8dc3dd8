"""The OpenAPI document, and its contents arranged for the reference page."""

import json
from dataclasses import dataclass
from functools import lru_cache

import orjson
from drf_spectacular.generators import SchemaGenerator

from apikeys.rest import openapi
from apikeys.rest.openapi import Components, Schema, Schemas


@dataclass(frozen=True)
class Field:
    # Such as `checks.syntax`, or `mx.records[].host` for the elements of an array.
    path: str
    kind: str
    text: str


@dataclass(frozen=True)
class Response:
    status: str
    text: str
    # Title and JSON of each.
    examples: list[tuple[str, str]]


@dataclass(frozen=True)
class Operation:
    id: str
    method: str
    path: str
    summary: str
    text: str
    query: list[Field]
    headers: list[Field]
    body: list[Field]
    result: list[Field]
    # Those that other operations don't have.
    result_headers: list[Field]
    responses: list[Response]


@lru_cache(maxsize=1)
def openapi_document() -> bytes:
    """Return the OpenAPI 3.1 document as JSON. Cached: only code and settings change it."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return orjson.dumps(schema, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_INDENT_2)


@lru_cache(maxsize=1)
def response_headers() -> list[Field]:
    components = parse_document()["components"]
    return [
        Field(name, _type_name(header["schema"], {}), header["description"])
        for name, header in components["headers"].items()
    ]


@lru_cache(maxsize=1)
def operations() -> list[Operation]:
    document = parse_document()
    return [
        _operation(method, path, operation, document["components"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def parse_document() -> openapi.Document:
    """Return the OpenAPI document as every client gets it."""
    document: openapi.Document = orjson.loads(openapi_document())
    return document


def _operation(
    method: str, path: str, operation: openapi.Operation, components: Components
) -> Operation:
    schemas = components["schemas"]
    body = operation.get("requestBody", {"content": {}})["content"].get("application/json", {})
    response = operation["responses"]["200"]
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        text=operation["description"],
        query=_parameters(operation, "query", schemas),
        headers=_parameters(operation, "header", schemas),
        body=_fields(body.get("schema", {}), schemas),
        result=_fields(response["content"]["application/json"]["schema"], schemas),
        result_headers=[
            Field(name, _type_name(header["schema"], schemas), header["description"])
            for name, header in response["headers"].items()
            if "$ref" not in header
        ],
        responses=[
            Response(status, response["description"], _examples(response, components))
            for status, response in operation["responses"].items()
        ],
    )


def _parameters(operation: openapi.Operation, location: str, schemas: Schemas) -> list[Field]:
    return [
        Field(param["name"], _type_name(param["schema"], schemas), param.get("description", ""))
        for param in operation.get("parameters", [])
        if param["in"] == location
    ]


def _fields(schema: Schema, schemas: Schemas, prefix: str = "") -> list[Field]:
    fields = []
    for name, field in _resolve(schema, schemas).get("properties", {}).items():
        path = f"{prefix}{name}"
        resolved = _resolve(field, schemas)
        fields.append(Field(path, _type_name(field, schemas), field.get("description", "")))
        if resolved.get("type") == "array":
            fields += _fields(resolved["items"], schemas, f"{path}[].")
        else:
            fields += _fields(resolved, schemas, f"{path}.")
    return fields


def _resolve(schema: Schema, schemas: Schemas) -> Schema:
    """Follow a $ref, including one inside allOf or oneOf, as nullable fields have it."""
    for part in [schema, *schema.get("allOf", []), *schema.get("oneOf", [])]:
        if "$ref" in part:
            return schemas[part["$ref"].rpartition("/")[2]]
    return schema


def _type_name(schema: Schema, schemas: Schemas) -> str:
    resolved = _resolve(schema, schemas)
    types = resolved.get("type", "object")
    if types == "array":
        types = f"array of {_type_name(resolved['items'], schemas)}"
    names = [types] if isinstance(types, str) else list(types)
    if any(part.get("type") == "null" for part in schema.get("oneOf", [])):
        names.append("null")
    values = [json.dumps(value) for value in resolved.get("enum", []) if value is not None]
    words = [*values, *("null" for name in names if name == "null")] if values else names
    return " or ".join(dict.fromkeys(words))


def _examples(response: openapi.Response, components: Components) -> list[tuple[str, str]]:
    examples = response["content"]["application/json"].get("examples", {})
    resolved = {
        name: components["examples"][name] if "$ref" in example else example
        for name, example in examples.items()
    }
    return [
        (example.get("summary", name), json.dumps(example["value"], indent=2, ensure_ascii=False))
        for name, example in resolved.items()
    ]
