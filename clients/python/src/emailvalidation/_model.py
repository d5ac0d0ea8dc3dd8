"""Build dataclasses from JSON. Fields that this version doesn't know are only in `raw`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Callable, TypeVar, get_args, get_origin, get_type_hints

from emailvalidation.errors import EmailValidationError

T = TypeVar("T", bound="Model")


class Model:
    raw: Mapping[str, Any]

    @classmethod
    def from_json(cls: type[T], raw: Mapping[str, Any]) -> T:
        if not isinstance(raw, Mapping):
            raise _unexpected(cls)
        kind: Any = cls
        values = {name: read(raw.get(key)) for name, key, read in _readers(kind)}
        instance = cls(**values)
        object.__setattr__(instance, "raw", raw)
        return instance


def _unexpected(hint: Any) -> EmailValidationError:
    return EmailValidationError(
        f"The response has no {getattr(hint, '__name__', hint)} where the API sends one. "
        "A proxy may have sent it: check the base URL."
    )


@cache
def _readers(cls: Any) -> list[tuple[str, str, Callable[[Any], Any]]]:
    hints: dict[str, Any] = get_type_hints(cls)
    names = [field.name for field in fields(cls)]
    return [(name, name.rstrip("_"), _reader(hints[name])) for name in names]


def _reader(hint: Any) -> Callable[[Any], Any]:
    """Return a function that makes a field's value from its JSON."""
    arguments = get_args(hint)
    if get_origin(hint) is list:
        read = _reader(arguments[0])

        def read_list(value: Any) -> list[Any]:
            if not isinstance(value, (list, type(None))):
                raise _unexpected(hint)
            return [read(one) for one in value or ()]

        return read_list
    for kind in (hint, *arguments):
        if isinstance(kind, type) and issubclass(kind, Model):
            model: type[Model] = kind
            return lambda value: None if value is None else model.from_json(value)
    return lambda value: value
