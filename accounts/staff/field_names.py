"""Name columns and fields of the admin as a person would: `created_at` is "created"."""

import re

from django.db.models import Model

_NAMES = {
    "at": "time",
    "duration ms": "duration in ms",
    "ip": "IP address",
    "last used ip": "last used from",
    "net cents": "net in cents",
    "tax cents": "tax in cents",
    "refunded cents": "refunded in cents",
    "provider cents": "provider's price in cents",
    "public id": "ID",
}


def name_fields(model: type[Model]) -> None:
    """Replace the names that Django made from the names of columns.

    Migrations aren't affected: they only contain names that were passed to the field.
    """
    for field in model._meta.fields:
        words = field.name.replace("_", " ")
        if field.verbose_name == words:
            field.verbose_name = name_field(words)


def name_field(words: str) -> str:
    if words in _NAMES:
        return _NAMES[words]
    words = re.sub(r"\bid\b", "ID", words)
    return re.sub(r" (at|on)$", "", re.sub(r"^is ", "", words))
