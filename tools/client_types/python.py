"""Python's dataclasses. `clients/python/src/emailvalidation/_model.py` fills them."""

from keyword import iskeyword

from tools.client_types.schemas import Node, response_schemas, split_type

_HEAD = '''"""The objects of responses. `python -m tools.client_types` writes this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from emailvalidation._model import Model

'''
_KINDS = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "any": "Any",
}


def write_python(document: Node) -> str:
    classes = (_class(name, schema) for name, schema in response_schemas(document).items())
    return _HEAD + "\n" + "\n\n".join(classes)


def _class(name: str, schema: Node) -> str:
    lines = ["@dataclass(frozen=True)", f"class {name}(Model):"]
    for field, inner in schema.get("properties", {}).items():
        lines.append(f"    {field}{'_' if iskeyword(field) else ''}: {_annotation(inner)}")
    return "\n".join(lines) + "\n"


def _annotation(schema: Node) -> str:
    kind, name, is_optional = split_type(schema)
    text = name or _KINDS.get(kind, "")
    if kind == "array":
        items = _annotation(schema["items"])
        text = f"list[{items}]"
    elif kind == "object" and not name:
        text = "dict[str, Any]"
    return f"Optional[{text}]" if is_optional else text
