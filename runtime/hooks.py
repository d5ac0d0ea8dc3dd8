"""Hooks: how a lower layer notifies upper layers without importing them.

Each hook is a setting with a list of dotted paths. The functions run inside the caller's
transaction, and their exceptions reach the caller.
"""

from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string


def call(hook: str, **arguments: Any) -> list[Any]:
    """Call every function of a hook; return their results in the setting's order."""
    return [import_string(path)(**arguments) for path in getattr(settings, hook)]
