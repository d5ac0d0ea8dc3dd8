"""Describe each type of event as a webhook of the OpenAPI document."""

from accounts.events.types import offered_types
from apikeys.events.serializers import EVENT_EXAMPLE
from apikeys.rest.openapi import Node

_HEADERS = [
    {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
]


def add_webhooks(result: Node, **_: object) -> Node:
    """Add each type's webhook and schema. drf-spectacular calls this as a postprocessing hook."""
    schemas, result["webhooks"] = result["components"]["schemas"], {}
    event = schemas["Event"]
    for one in offered_types():
        words = one.name.replace(".", "_").split("_")
        name = f"{''.join(map(str.title, words))}Event"
        fields = {
            field: {key: value for key, value in schema.items() if key != "examples"}
            for field, schema in one.data.items()
        }
        properties = {
            **event["properties"],
            "type": {"type": "string", "const": one.name},
            "data": {"type": "object", "properties": fields, "required": [*fields]},
        }
        schemas[name] = {**event, "description": one.description, "properties": properties}
        content = {
            "schema": {"$ref": f"#/components/schemas/{name}"},
            "examples": {name: {"value": {**EVENT_EXAMPLE, "type": one.name, "data": one.example}}},
        }
        operation = {
            "operationId": f"receive-{'-'.join(words)}",
            "summary": one.title,
            "description": one.description,
            "tags": ["Events"],
            "security": [],
            "parameters": _HEADERS,
            "requestBody": {"required": True, "content": {"application/json": content}},
            "responses": {"2XX": {"description": "Received. All other responses are failures."}},
        }
        result["webhooks"][one.name] = {"post": operation}
    return result
