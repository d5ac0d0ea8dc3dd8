"""TypeScript's interfaces."""

import json

from tools.client_types.schemas import Node, response_schemas, split_type

_HEAD = (
    "// The objects of requests and responses, written by `python -m tools.client_types` from "
    "openapi.json.\n\n"
)
# The only requests with more than a few fields.
_REQUESTS = ("AddressListRequest", "ListStart")
_KINDS = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "any": "unknown",
}


def write_typescript(document: Node) -> str:
    schemas = document["components"]["schemas"]
    requests = [_interface(name, schemas[name], "?", " | undefined") for name in _REQUESTS]
    responses = [_interface(*named) for named in response_schemas(document).items()]
    return _HEAD + "\n".join(requests + responses)


def _interface(name: str, schema: Node, mark: str = "", or_nothing: str = "") -> str:
    fields = (
        f"  {field}{mark}: {_annotation(inner)}{or_nothing};\n"
        for field, inner in schema.get("properties", {}).items()
    )
    return f"export interface {name} {{\n{''.join(fields)}}}\n"


def _annotation(schema: Node) -> str:
    kind, name, is_optional = split_type(schema)
    text = name or _KINDS.get(kind, "")
    # A code that a client doesn't know must not break it, so the type stays open.
    if known := [json.dumps(one) for one in schema.get("enum", []) if isinstance(one, str)]:
        text = f"{' | '.join(known)} | (string & {{}})"
    if kind == "array":
        items = _annotation(schema["items"])
        text = f"({items})[]" if "|" in items else f"{items}[]"
    elif kind == "object" and not name:
        text = "Record<string, any>"
    return f"{text} | null" if is_optional else text
