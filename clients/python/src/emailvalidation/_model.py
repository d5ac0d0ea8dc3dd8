"""Build dataclasses from JSON. Fields that this version doesn't know are only in `raw`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Optional, TypeVar, get_args, get_origin, get_type_hints

from emailvalidation.errors import EmailValidationError

T = TypeVar("T", bound="Model")


class Model:
    raw: Mapping[str, Any]

    @classmethod
    def from_json(cls: type[T], raw: Any) -> T:
        if not isinstance(raw, Mapping):
            raise _unexpected(cls)
        kind: Any = cls
        values: dict[str, Any] = {}
        for name, hint, model in _fields(kind):
            value = raw.get(name.rstrip("_"))
            if get_origin(hint) is list:
                if not isinstance(value, list):
                    raise _unexpected(hint)
                values[name] = [model.from_json(one) if model else one for one in value]
            else:
                values[name] = model.from_json(value) if model and value is not None else value
        instance = cls(**values)
        object.__setattr__(instance, "raw", raw)
        return instance


def _unexpected(hint: Any) -> EmailValidationError:
    return EmailValidationError(
        f"The response has no {getattr(hint, '__name__', hint)} where the API sends one. "
        "A proxy may have sent it: check the base URL."
    )


@cache
def _fields(cls: type[Model]) -> list[tuple[str, Any, Any]]:
    """Return the name of each field, its type, and the model of its value or values, if any."""
    hints = get_type_hints(cls).items()
    return [(name, hint, _find_model(hint)) for name, hint in hints if name != "raw"]


def _find_model(hint: Any) -> Optional[type[Model]]:
    for kind in (hint, *get_args(hint)):
        if isinstance(kind, type) and issubclass(kind, Model):
            return kind
    return None
