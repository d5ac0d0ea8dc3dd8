"""The schemas of responses, in an order in which each comes after those it refers to."""

from collections.abc import Iterator
from typing import Any

Node = dict[str, Any]


def response_schemas(document: Node) -> dict[str, Node]:
    """Return the objects that successful responses have, directly or inside others."""
    schemas = document["components"]["schemas"]
    found: dict[str, Node] = {}

    def add(name: str) -> None:
        if name in found or name.endswith("Event"):
            return
        for inner in _references(schemas[name]):
            add(inner)
        found[name] = schemas[name]

    for methods in document["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if status.startswith("2"):
                    for name in _references(response):
                        if name in schemas:
                            add(name)
    # The type of `Event`, whatever its `data` has.
    found["Event"] = schemas["Event"]
    return found


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rpartition("/")[2]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def split_type(schema: Node) -> tuple[str, str, bool]:
    """Return a field's kind, the schema it refers to if any, and whether it can be null.

    Kinds are those of JSON, `array` of a schema, or `any`.
    """
    for key in ("allOf", "oneOf"):
        if key in schema:
            names = [one["$ref"].rpartition("/")[2] for one in schema[key] if "$ref" in one]
            return "object", names[0], any(one.get("type") == "null" for one in schema[key])
    if "$ref" in schema:
        return "object", schema["$ref"].rpartition("/")[2], False
    types = schema.get("type", "any")
    listed = types if isinstance(types, list) else [types]
    kind = next(one for one in listed if one != "null")
    return kind, "", "null" in listed
