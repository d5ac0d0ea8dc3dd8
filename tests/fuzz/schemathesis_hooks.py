"""Lets Schemathesis send spreadsheets, whose media type it doesn't know. Their bytes are noise."""

from typing import Any

import schemathesis


@schemathesis.serializer("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
def serialize_spreadsheet(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")
