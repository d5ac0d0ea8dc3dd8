"""The API description, laid out for the reference page: people read what machines read."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from drf_spectacular.generators import SchemaGenerator


@dataclass(frozen=True)
class Field:
    # `checks.syntax`; of the elements of a list: `mx.records[].host`.
    path: str
    kind: str
    text: str


@dataclass(frozen=True)
class Response:
    status: str
    text: str
    # What it is an example of, and the JSON.
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
    # Besides those of every answer.
    result_headers: list[Field]
    responses: list[Response]


@lru_cache(maxsize=1)
def description() -> bytes:
    """OpenAPI 3.1 as JSON. It depends on nothing but the code and the settings."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return orjson.dumps(schema, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_INDENT_2)


@lru_cache(maxsize=1)
def answer_headers() -> list[Field]:
    headers = orjson.loads(description())["components"]["headers"]
    return [
        Field(name, header["schema"]["type"], header["description"])
        for name, header in headers.items()
    ]


@lru_cache(maxsize=1)
def operations() -> list[Operation]:
    schema = orjson.loads(description())
    return [
        _operation(method, path, operation, schema["components"]["schemas"])
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


def _operation(method: str, path: str, operation: Any, schemas: Any) -> Operation:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    result = operation["responses"]["200"]["content"]["application/json"]
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        text=operation["description"],
        query=_parameters(operation, "query", schemas),
        headers=_parameters(operation, "header", schemas),
        body=_fields(body.get("schema", {}), schemas),
        result=_fields(result["schema"], schemas),
        result_headers=[
            Field(name, _kind(header["schema"], schemas), header["description"])
            for name, header in operation["responses"]["200"]["headers"].items()
            if "$ref" not in header
        ],
        responses=[
            Response(status, response["description"], _examples(response))
            for status, response in operation["responses"].items()
        ],
    )


def _parameters(operation: Any, place: str, schemas: Any) -> list[Field]:
    return [
        Field(given["name"], _kind(given["schema"], schemas), given.get("description", ""))
        for given in operation.get("parameters", [])
        if given["in"] == place
    ]


def _fields(schema: Any, schemas: Any, prefix: str = "") -> list[Field]:
    fields = []
    for name, given in _resolved(schema, schemas).get("properties", {}).items():
        path = f"{prefix}{name}"
        inner = _resolved(given, schemas)
        fields.append(Field(path, _kind(given, schemas), given.get("description", "")))
        if inner.get("type") == "array":
            fields += _fields(inner["items"], schemas, f"{path}[].")
        else:
            fields += _fields(inner, schemas, f"{path}.")
    return fields


def _resolved(schema: Any, schemas: Any) -> Any:
    """What a reference leads to, also where it stands beside "or null"."""
    for part in [schema, *schema.get("allOf", []), *schema.get("oneOf", [])]:
        if "$ref" in part:
            return schemas[part["$ref"].rpartition("/")[2]]
    return schema


def _kind(schema: Any, schemas: Any) -> str:
    inner = _resolved(schema, schemas)
    types = inner.get("type", "object")
    if types == "array":
        types = f"array of {_kind(inner['items'], schemas)}"
    names = [types] if isinstance(types, str) else list(types)
    if any(part.get("type") == "null" for part in schema.get("oneOf", [])):
        names.append("null")
    values = [json.dumps(value) for value in inner.get("enum", []) if value is not None]
    words = [*values, *("null" for name in names if name == "null")] if values else names
    return " or ".join(dict.fromkeys(words))


def _examples(response: Any) -> list[tuple[str, str]]:
    examples = response["content"]["application/json"].get("examples", {})
    return [
        (example.get("summary", name), json.dumps(example["value"], indent=2, ensure_ascii=False))
        for name, example in examples.items()
    ]
