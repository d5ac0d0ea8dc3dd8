"""Tables that count by account, key and more: the rows of the playground have no key, and a unique
index takes NULLs for different. So each case, with a key and without, has an index of its own."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db.models import BaseConstraint, Q, UniqueConstraint

from runtime.database.raw_sql import BulkInsert, JsonRows, Row


def unique_by_key(name: str, *fields: str, **only: Any) -> list[BaseConstraint]:
    """`only`: of which rows at all."""
    without_key = [field for field in fields if field != "key"]
    return [
        UniqueConstraint(
            fields=fields, condition=Q(key__isnull=False, **only), name=f"{name}_of_key"
        ),
        UniqueConstraint(
            fields=without_key, condition=Q(key__isnull=True, **only), name=f"{name}_of_playground"
        ),
    ]


def additions(
    model: Any, names: tuple[str, ...], counted: int, rows: Iterable[Row], only: str = ""
) -> list[BulkInsert]:
    """Adds each row to the one there is of the same account, key and so on, or makes it.

    `names`: the row's fields, account and key first, and last so many that are counted. `only`: the
    condition of the unique indexes.
    """
    summed: dict[Row, list[int]] = {}
    for row in rows:
        counts = summed.setdefault(row[:-counted], [0] * counted)
        for place, count in enumerate(row[-counted:]):
            counts[place] += count
    # In one order: of two who change several rows neither waits for the other in vain.
    given = [(*which, *counts) for which, counts in sorted(summed.items(), key=_place)]
    return [
        BulkInsert(
            model._meta.db_table,
            _rows(model, names),
            chosen,
            _ending(model, names, counted, only, has_key=has_key),
        )
        for has_key in (True, False)
        if (chosen := [row for row in given if (row[1] is not None) is has_key])
    ]


@cache
def _rows(model: Any, names: tuple[str, ...]) -> JsonRows:
    fields = (model._meta.get_field(name) for name in names)
    return JsonRows(**{field.column: field for field in fields})


@cache
def _ending(model: Any, names: tuple[str, ...], counted: int, only: str, *, has_key: bool) -> str:
    table, columns = model._meta.db_table, _rows(model, names).names
    same = [one for one in columns[:-counted] if has_key or one != "key_id"]
    which = f"({', '.join(same)}) WHERE key_id IS {'NOT ' if has_key else ''}NULL{only}"
    sums = ", ".join(f"{one} = {table}.{one} + excluded.{one}" for one in columns[-counted:])
    return f"ON CONFLICT {which} DO UPDATE SET {sums}"


def _place(item: tuple[Row, Any]) -> tuple[Any, ...]:
    account_id, key_id, *others = item[0]
    return account_id, key_id or 0, *others
