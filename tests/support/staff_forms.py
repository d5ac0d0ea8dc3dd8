"""Submit the forms of staff actions. Some show what will change, to be confirmed."""

import re
from html import unescape
from typing import Any

from django.test import Client

_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


def hidden_fields(response: Any) -> dict[str, str]:
    """Return the fields of the page that asks for a confirmation, or nothing on other pages."""
    page = "" if response.streaming else response.content.decode(errors="replace")
    fields = {name: unescape(value) for name, value in _HIDDEN.findall(page)}
    return fields if "preview" in fields else {}


def post_confirmed(client: Client, path: str, form: dict[str, Any], **options: Any) -> Any:
    """Post the form, and confirm it if asked to."""
    response = client.post(path, form, **options)
    fields = hidden_fields(response)
    return client.post(path, fields, **options) if fields else response
