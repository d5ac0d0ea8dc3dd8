"""A Postman collection (format 2.1), generated from the OpenAPI document."""

from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus

import orjson

from apikeys.rest.openapi import Document, MediaType, Operation, Parameter, find_success
from apikeys.rest.reference import format_example, parse_document

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

Json = dict[str, object]


@lru_cache(maxsize=1)
def postman_collection() -> bytes:
    """Return the collection as JSON. Cached: only code and settings change it."""
    document = parse_document()
    collection = {
        "info": {
            "name": document["info"]["title"],
            "description": f"{document['info']['description']}\n\nSet the variable `api_key` to "
            "one of your API keys.",
            "schema": SCHEMA,
        },
        "auth": {
            "type": "bearer",
            "bearer": [{"key": "token", "value": "{{api_key}}", "type": "string"}],
        },
        "variable": [
            {"key": "base_url", "value": document["servers"][0]["url"], "type": "string"},
            {"key": "api_key", "value": "", "type": "string"},
        ],
        "item": _items(document),
    }
    return orjson.dumps(collection, option=orjson.OPT_INDENT_2)


def _items(document: Document) -> list[Json]:
    return [
        _item(method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def _item(method: str, path: str, operation: Operation) -> Json:
    request = {
        "method": method,
        "description": operation["description"],
        "header": _optional_values(operation, "header"),
        "url": _url(path, _values(operation, "path"), _optional_values(operation, "query")),
        **_body(operation),
    }
    status, response = find_success(operation)
    return {
        "name": operation["summary"],
        "request": request,
        "response": [
            _saved_response(name, value, request, HTTPStatus(int(status)), media_type)
            for media_type, content in response["content"].items()
            for name, value in _examples(content).items()
        ],
    }


def _optional_values(operation: Operation, location: str) -> list[Json]:
    """Return the parameters with their examples, not selected: none of them is required."""
    return [{**value, "disabled": True} for value in _values(operation, location)]


def _values(operation: Operation, location: str) -> list[Json]:
    return [
        {
            "key": parameter["name"],
            "value": str(next(iter(_examples(parameter).values()))),
            "description": parameter["description"],
        }
        for parameter in operation.get("parameters", [])
        if parameter["in"] == location
    ]


def _url(path: str, variables: list[Json], query: list[Json]) -> Json:
    # Postman writes /v1/lists/{list_id} as /v1/lists/:list_id.
    path = path.replace("{", ":").replace("}", "")
    url: Json = {
        "raw": f"{{{{base_url}}}}{path}",
        "host": ["{{base_url}}"],
        "path": path.strip("/").split("/"),
    }
    optional = {"variable": variables, "query": query}
    return {**url, **{name: values for name, values in optional.items() if values}}


def _body(operation: Operation) -> Json:
    content = operation.get("requestBody", {"content": {}})["content"].get("application/json")
    if content is None:
        return {}
    raw = format_example(next(iter(_examples(content).values())))
    return {"body": {"mode": "raw", "raw": raw, "options": {"raw": {"language": "json"}}}}


def _saved_response(
    name: str, value: object, request: Json, status: HTTPStatus, media_type: str
) -> Json:
    return {
        "name": name,
        "originalRequest": request,
        "status": status.phrase,
        "code": status.value,
        "_postman_previewlanguage": "json" if media_type == "application/json" else "text",
        "header": [{"key": "Content-Type", "value": media_type}],
        "body": format_example(value),
    }


def _examples(described: MediaType | Parameter) -> Mapping[str, object]:
    return {
        example.get("summary", name): example["value"]
        for name, example in described["examples"].items()
    }
