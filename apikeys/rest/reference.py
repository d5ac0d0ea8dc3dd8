"""The OpenAPI document, and its contents for the reference page."""

import json
from dataclasses import dataclass
from functools import lru_cache

import orjson
from drf_spectacular.generators import SchemaGenerator

from accounts.events import EventType
from apikeys.rest.openapi import Node, find_success, only_content


@dataclass(frozen=True)
class FieldRow:
    # `checks.syntax`, or `mx.records[].host` in arrays.
    path: str
    kind: str
    text: str
    # The operation that describes this object.
    see: str = ""


@dataclass(frozen=True)
class ResponseRow:
    status: str
    text: str
    # Title and JSON.
    examples: list[tuple[str, str]]


@dataclass(frozen=True)
class OperationSection:
    id: str
    tag: str
    method: str
    path: str
    # The one that the key must have. Empty: none.
    scope: str
    summary: str
    text: str
    path_parameters: list[FieldRow]
    query: list[FieldRow]
    headers: list[FieldRow]
    body: list[FieldRow]
    result: list[FieldRow]
    # The operation with the same fields, if not in `result`.
    same_result_as: str
    result_headers: list[FieldRow]
    responses: list[ResponseRow]


@lru_cache(maxsize=1)
def openapi_document() -> bytes:
    """Cached: only code and settings change it."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return orjson.dumps(schema, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_INDENT_2)


@lru_cache(maxsize=1)
def response_headers() -> list[FieldRow]:
    components = parse_document()["components"]
    return [
        FieldRow(name, _type_name(header["schema"], {}), header["description"])
        for name, header in components["headers"].items()
    ]


@lru_cache(maxsize=1)
def operations() -> list[OperationSection]:
    document = parse_document()
    described = _describing_operations(document)
    return [
        _operation(method, path, operation, document["components"], described)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def describe_event(event_type: EventType) -> list[FieldRow]:
    return _fields({"properties": event_type.data}, {}, {})


def parse_document() -> Node:
    document: Node = orjson.loads(openapi_document())
    return document


def _describing_operations(document: Node) -> dict[str, str]:
    """Return the first operation that returns each schema."""
    described: dict[str, str] = {}
    for methods in document["paths"].values():
        for operation in methods.values():
            _, content = only_content(find_success(operation)[1])
            if name := _schema_name(content["schema"]):
                described.setdefault(name, operation["operationId"])
    return described


def _operation(
    method: str, path: str, operation: Node, components: Node, described: dict[str, str]
) -> OperationSection:
    schemas = components["schemas"]
    body = operation.get("requestBody", {"content": {}})["content"].get("application/json", {})
    _, response = find_success(operation)
    _, content = only_content(response)
    operation_id: str = operation["operationId"]
    describing = described.get(_schema_name(content["schema"]), operation_id)
    is_described = describing != operation_id
    return OperationSection(
        id=operation_id,
        tag=operation["tags"][0],
        method=method.upper(),
        path=path,
        scope="".join(operation["security"][0]["apiKey"]),
        summary=operation["summary"],
        text=operation["description"],
        path_parameters=_parameters(operation, "path", schemas),
        query=_parameters(operation, "query", schemas),
        headers=_parameters(operation, "header", schemas),
        body=_fields(body.get("schema", {}), schemas, {}),
        result=[] if is_described else _fields(content["schema"], schemas, described),
        same_result_as=describing if is_described else "",
        result_headers=[
            FieldRow(name, _type_name(header["schema"], schemas), header["description"])
            for name, header in response["headers"].items()
            if "$ref" not in header
        ],
        responses=[
            ResponseRow(status, found["description"], _examples(found, components))
            for status, response in operation["responses"].items()
            # Errors that are the same in all operations are shared.
            for found in [components["responses"].get(f"Error{status}", response)]
        ],
    )


def _parameters(operation: Node, location: str, schemas: Node) -> list[FieldRow]:
    return [
        FieldRow(param["name"], _type_name(param["schema"], schemas), param.get("description", ""))
        for param in operation.get("parameters", [])
        if param["in"] == location
    ]


def _fields(
    schema: Node, schemas: Node, described: dict[str, str], prefix: str = ""
) -> list[FieldRow]:
    fields = []
    for name, field in _resolve(schema, schemas).get("properties", {}).items():
        path = f"{prefix}{name}"
        resolved = _resolve(field, schemas)
        is_array = resolved.get("type") == "array"
        inner = resolved["items"] if is_array else field
        see = described.get(_schema_name(inner), "")
        fields.append(FieldRow(path, _type_name(field, schemas), field.get("description", ""), see))
        if not see:
            fields += _fields(inner, schemas, described, f"{path}[]." if is_array else f"{path}.")
    return fields


def _schema_name(schema: Node) -> str:
    # Nullable fields have their $ref inside allOf or oneOf.
    parts = [schema, *schema.get("allOf", []), *schema.get("oneOf", [])]
    return next((part["$ref"] for part in parts if "$ref" in part), "").rpartition("/")[2]


def _resolve(schema: Node, schemas: Node) -> Node:
    resolved: Node = schemas.get(_schema_name(schema), schema)
    return resolved


def _type_name(schema: Node, schemas: Node) -> str:
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


def _examples(response: Node, components: Node) -> list[tuple[str, str]]:
    resolved = {
        name: components["examples"][name] if "$ref" in example else example
        for content in response["content"].values()
        for name, example in content.get("examples", {}).items()
    }
    texts = []
    for name, example in resolved.items():
        value = example["value"]
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        texts.append((example.get("summary", name), text))
    return texts
