"""Build dataclasses from JSON. Fields that this version doesn't know are only in `raw`."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any, Callable, Dict, Mapping, Type, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T", bound="Model")


class Model:
    raw: Mapping[str, Any]

    @classmethod
    def from_json(cls: Type[T], raw: Mapping[str, Any]) -> T:
        values = {name: read(raw.get(key)) for name, key, read in _readers(cls)}
        instance = cls(**values)
        object.__setattr__(instance, "raw", raw)
        return instance


@lru_cache(maxsize=None)
def _readers(cls: Type[Model]) -> "list[tuple[str, str, Callable[[Any], Any]]]":
    hints: Dict[str, Any] = get_type_hints(cls)
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    return [(name, name.rstrip("_"), _reader(hints[name])) for name in names]


def _reader(hint: Any) -> Callable[[Any], Any]:
    """Return a function that makes a field's value from its JSON."""
    arguments = get_args(hint)
    if get_origin(hint) is list:
        read = _reader(arguments[0])
        return lambda value: [read(one) for one in value or ()]
    for kind in (hint, *arguments):
        if isinstance(kind, type) and issubclass(kind, Model):
            return lambda value, model=kind: None if value is None else model.from_json(value)
    return lambda value: value
