"""Show rows in the admin as a person would: numbers grouped, and no fields without a value."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from django.contrib import admin
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Field, IntegerField, Model

# Django accepts functions among the names of fields; the types of its stubs don't.
Name = str | Callable[..., Any]
# What methods of admin classes return for nothing.
_EMPTY: tuple[object, ...] = (None, "", {}, [], b"")


def group_numbers(model: type[Model], names: Iterable[Any]) -> list[Any]:
    """Replace the names of integer columns with functions that show `1,200`."""
    return [_grouped(model, name) for name in names]


def drop_empty(model_admin: object, row: Model, names: Iterable[Any]) -> list[Any]:
    """Return the names of those fields and methods that have a value for this row."""
    return [name for name in names if not _is_empty(model_admin, row, name)]


# Cached: Django compares the functions of a page's fields by identity.
@cache
def _grouped(model: type[Model], name: Name) -> Name:
    field = _find_field(model, name)
    if not isinstance(field, IntegerField) or field.primary_key or field.choices:
        return name
    column = field.name

    @admin.display(description=str(field.verbose_name), ordering=column)
    def show(row: Model) -> str:
        value = getattr(row, column)
        return "" if value is None else f"{value:,}"

    # Django makes the CSS class of the column from it.
    show.__name__ = column
    return show


def _is_empty(model_admin: object, row: Model, name: Name) -> bool:
    field = _find_field(type(row), name)
    if field is not None:
        return getattr(row, field.attname) in _EMPTY
    method = getattr(model_admin, str(name), None)
    return method is not None and method(row) in _EMPTY


def _find_field(model: type[Model], name: Name) -> "Field[Any, Any] | None":
    try:
        field = model._meta.get_field(name) if isinstance(name, str) else None
    except FieldDoesNotExist:
        return None
    return field if isinstance(field, Field) else None
