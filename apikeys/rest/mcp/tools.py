"""Tools are operations of the API. Each layer declares its own in a module mcp_tools.py."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.urls import ResolverMatch, resolve

from apikeys.rest.openapi import Node
from apikeys.rest.reference import parse_document
from runtime.hooks import Hook

REF = "#/components/schemas/"
# Arguments that aren't fields of the operation.
EXTRA = {
    "max_credits": {
        "type": "integer",
        "minimum": 1,
        "description": "The call is refused, free of charge, if it can cost more credits.",
    },
    "confirm": {"type": "boolean", "description": "True if the user agreed to the price."},
    "idempotency_key": {
        "type": "string",
        "pattern": "^[!-~]{1,255}$",
        "description": "Send the same key to repeat a call whose answer was lost: it is free.",
    },
}


@dataclass(frozen=True)
class Tool:
    name: str
    title: str
    # With the price.
    description: str
    # Its id in the OpenAPI document.
    operation: str
    method: str
    # As in urls.py. Arguments with these names become part of it.
    path: str
    # The fields or parameters of the operation that are arguments, and names of EXTRA.
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    # What the operation gets besides.
    constants: Mapping[str, object] = field(default_factory=dict)
    # Whether `max_credits` is a field of the operation.
    knows_limit: bool = False
    is_read_only: bool = False

    def resolve(self, arguments: Mapping[str, Any]) -> tuple[str, ResolverMatch]:
        # A malformed id gets the operation's own 404, and can't name another operation.
        list_id = str(arguments.get("list_id")).replace("/", "") or "-"
        path = self.path.format_map({"list_id": list_id})
        return path, resolve(path)

    def describe(self) -> Node:
        known, output_schema = _read_operation(self.operation)
        properties = {**known, **EXTRA}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": {name: properties[name] for name in self.arguments},
                "required": list(self.required),
                "additionalProperties": False,
            },
            "outputSchema": output_schema,
            "annotations": {
                "readOnlyHint": self.is_read_only,
                "destructiveHint": False,
                "idempotentHint": self.is_read_only,
                "openWorldHint": not self.is_read_only,
            },
        }


tools = Hook[Tool]("MCP_TOOLS")


@cache
def _read_operation(operation_id: str) -> tuple[Node, Node]:
    """Return the schemas of an operation's fields and parameters by name, and of its result."""
    document = parse_document()
    (operation,) = (
        operation
        for methods in document["paths"].values()
        for operation in methods.values()
        if operation["operationId"] == operation_id
    )
    schemas = document["components"]["schemas"]
    known = {
        one["name"]: {**one["schema"], "description": one["description"]}
        for one in operation.get("parameters", ())
    }
    if "requestBody" in operation:
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        known |= schemas[body["$ref"].removeprefix(REF)]["properties"]
    success = next(one for status, one in operation["responses"].items() if status[0] == "2")
    name = success["content"]["application/json"]["schema"]["$ref"].removeprefix(REF)
    needed, queue = {}, [name]
    while queue:
        current = queue.pop()
        needed[current] = schemas[current]
        queue += set(_references(schemas[current])) - needed.keys()
    text = json.dumps({**needed.pop(name), "$defs": needed}).replace(REF, "#/$defs/")
    return known, json.loads(text)


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].removeprefix(REF)
        node = [*node.values()]
    if isinstance(node, list):
        for value in node:
            yield from _references(value)
