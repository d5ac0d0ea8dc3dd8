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
IDEMPOTENCY_KEY = {
    "type": "string",
    "pattern": "^[!-~]{1,255}$",
    "description": "Send the same key to repeat a call whose answer was lost: it costs nothing.",
}


@dataclass(frozen=True)
class Tool:
    name: str
    title: str
    # With the price.
    description: str
    method: str
    # As in urls.py. Arguments with these names become part of it.
    path: str
    operation: str
    # JSON Schemas of arguments.
    arguments: Mapping[str, Node] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    # Those that the operation gets, and what it gets besides.
    sent: tuple[str, ...] = ()
    constants: Mapping[str, object] = field(default_factory=dict)
    is_read_only: bool = False

    def resolve(self, arguments: Mapping[str, Any]) -> tuple[str, ResolverMatch]:
        """Return the operation's path, and its view."""
        # A malformed id gets the operation's own 404, and can't name another operation.
        list_id = str(arguments.get("list_id")).replace("/", "") or "-"
        path = self.path.format_map({"list_id": list_id})
        return path, resolve(path)

    def describe(self) -> Node:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": dict(self.arguments),
                "required": list(self.required),
                "additionalProperties": False,
            },
            "outputSchema": output_schema(self.operation),
            "annotations": {
                "readOnlyHint": self.is_read_only,
                "destructiveHint": False,
                "idempotentHint": self.is_read_only,
                "openWorldHint": not self.is_read_only,
            },
        }


tools = Hook[Tool]("MCP_TOOLS")


@cache
def output_schema(operation_id: str) -> Node:
    """Return the schema of an operation's result, with the schemas that it refers to."""
    document = parse_document()
    (operation,) = (
        operation
        for methods in document["paths"].values()
        for operation in methods.values()
        if operation["operationId"] == operation_id
    )
    success = next(one for status, one in operation["responses"].items() if status[0] == "2")
    name = success["content"]["application/json"]["schema"]["$ref"].removeprefix(REF)
    schemas = document["components"]["schemas"]
    needed, queue = {}, [name]
    while queue:
        current = queue.pop()
        needed[current] = schemas[current]
        queue += set(_references(schemas[current])) - needed.keys()
    text = json.dumps({**needed.pop(name), "$defs": needed}).replace(REF, "#/$defs/")
    schema: Node = json.loads(text)
    return schema


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].removeprefix(REF)
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)
