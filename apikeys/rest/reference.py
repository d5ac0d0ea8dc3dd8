"""The OpenAPI document, and its contents arranged for the reference page."""

import json
from dataclasses import dataclass
from functools import lru_cache

import orjson
from drf_spectacular.generators import SchemaGenerator

from apikeys.rest import openapi
from apikeys.rest.openapi import Components, Schema, Schemas, find_success, only_content


@dataclass(frozen=True)
class Field:
    # Such as `checks.syntax`, or `mx.records[].host` for the elements of an array.
    path: str
    kind: str
    text: str
    # The id of the operation that describes the fields of this object.
    see: str = ""


@dataclass(frozen=True)
class Response:
    status: str
    text: str
    # Title and JSON of each.
    examples: list[tuple[str, str]]


@dataclass(frozen=True)
class Operation:
    id: str
    tag: str
    method: str
    path: str
    summary: str
    text: str
    path_parameters: list[Field]
    query: list[Field]
    headers: list[Field]
    body: list[Field]
    result: list[Field]
    # The id of an earlier operation with the same fields, which `result` then doesn't have.
    same_result_as: str
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
    described = _describing_operations(document)
    return [
        _operation(method, path, operation, document["components"], described)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def parse_document() -> openapi.Document:
    """Return the OpenAPI document as every client gets it."""
    document: openapi.Document = orjson.loads(openapi_document())
    return document


def _describing_operations(document: openapi.Document) -> dict[str, str]:
    """Return the id of the first operation that returns each schema."""
    described: dict[str, str] = {}
    for methods in document["paths"].values():
        for operation in methods.values():
            _, content = only_content(find_success(operation)[1])
            if name := _schema_name(content["schema"]):
                described.setdefault(name, operation["operationId"])
    return described


def _operation(
    method: str,
    path: str,
    operation: openapi.Operation,
    components: Components,
    described: dict[str, str],
) -> Operation:
    schemas = components["schemas"]
    body = operation.get("requestBody", {"content": {}})["content"].get("application/json", {})
    _, response = find_success(operation)
    _, content = only_content(response)
    operation_id = operation["operationId"]
    describing = described.get(_schema_name(content["schema"]), operation_id)
    is_described = describing != operation_id
    return Operation(
        id=operation_id,
        tag=operation["tags"][0],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        text=operation["description"],
        path_parameters=_parameters(operation, "path", schemas),
        query=_parameters(operation, "query", schemas),
        headers=_parameters(operation, "header", schemas),
        body=_fields(body.get("schema", {}), schemas, {}),
        result=[] if is_described else _fields(content["schema"], schemas, described),
        same_result_as=describing if is_described else "",
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


def _fields(
    schema: Schema, schemas: Schemas, described: dict[str, str], prefix: str = ""
) -> list[Field]:
    """Return the fields of an object and of those inside it, except what `described` has."""
    fields = []
    for name, field in _resolve(schema, schemas).get("properties", {}).items():
        path = f"{prefix}{name}"
        resolved = _resolve(field, schemas)
        is_array = resolved.get("type") == "array"
        inner = resolved["items"] if is_array else field
        see = described.get(_schema_name(inner), "")
        fields.append(Field(path, _type_name(field, schemas), field.get("description", ""), see))
        if not see:
            fields += _fields(inner, schemas, described, f"{path}[]." if is_array else f"{path}.")
    return fields


def _schema_name(schema: Schema) -> str:
    return _reference_in(schema).rpartition("/")[2]


def _reference_in(schema: Schema) -> str:
    """Return the $ref, including one inside allOf or oneOf, as nullable fields have it."""
    for part in [schema, *schema.get("allOf", []), *schema.get("oneOf", [])]:
        if "$ref" in part:
            return part["$ref"]
    return ""


def _resolve(schema: Schema, schemas: Schemas) -> Schema:
    return schemas.get(_schema_name(schema), schema)


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
    resolved = {
        name: components["examples"][name] if "$ref" in example else example
        for content in response["content"].values()
        for name, example in content.get("examples", {}).items()
    }
    return [
        (example.get("summary", name), format_example(example["value"]))
        for name, example in resolved.items()
    ]


def format_example(value: object) -> str:
    """Return the text of a file as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
