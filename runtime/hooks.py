"""Seams: how a lower floor tells upper ones what happened, without importing them.

The settings list dotted paths; each function runs inside the caller's transaction, and its
exception is the caller's.
"""

from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string


def call(seam: str, **arguments: Any) -> list[Any]:
    return [import_string(path)(**arguments) for path in getattr(settings, seam)]
