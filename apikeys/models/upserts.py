"""Tables of counts by account, key and more.

Rows of the dashboard's playground have no key. As a unique index treats NULLs as distinct, each of
these tables has two: one for rows with a key and one for rows without. Django's bulk_create() can
neither name such an index as the target of a conflict nor add to the stored values.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db.models import BaseConstraint, Model, Q, UniqueConstraint

from runtime.database.raw_sql import BulkInsert, JsonTable, Row


def unique_by_key(name: str, *fields: str, **condition: object) -> list[BaseConstraint]:
    """Return both unique constraints. They cover only the rows that meet `condition`."""
    without_key = [field for field in fields if field != "key"]
    return [
        UniqueConstraint(
            fields=fields, condition=Q(key__isnull=False, **condition), name=f"{name}_of_key"
        ),
        UniqueConstraint(
            fields=without_key,
            condition=Q(key__isnull=True, **condition),
            name=f"{name}_of_playground",
        ),
    ]


def build_increments(
    model: type[Model],
    names: tuple[str, ...],
    n_counts: int,
    rows: Iterable[Row],
    condition: str = "",
) -> list[BulkInsert]:
    """Return upserts that add each row's counts to the stored row of the same group.

    `names` are the fields of a row: account and key first, and `n_counts` fields with counts last.
    `condition` is that of the unique constraints, as SQL.
    """
    sums: dict[Row, list[int]] = {}
    for row in rows:
        group_sums = sums.setdefault(row[:-n_counts], [0] * n_counts)
        for index, count in enumerate(row[-n_counts:]):
            group_sums[index] += count
    # Sorted, so that concurrent transactions lock the rows in the same order and can't deadlock.
    sorted_rows = [(*group, *values) for group, values in sorted(sums.items(), key=_sort_key)]
    return [
        BulkInsert(
            model._meta.db_table,
            _json_rows(model, names),
            inserted,
            _on_conflict(model, names, n_counts, condition, has_key=has_key),
        )
        for has_key in (True, False)
        if (inserted := [row for row in sorted_rows if (row[1] is not None) is has_key])
    ]


@cache
def _json_rows(model: type[Model], names: tuple[str, ...]) -> JsonTable:
    fields = {field.name: field for field in model._meta.concrete_fields}
    return JsonTable(**{fields[name].attname: fields[name] for name in names})


@cache
def _on_conflict(
    model: type[Model], names: tuple[str, ...], n_counts: int, condition: str, *, has_key: bool
) -> str:
    table, columns = model._meta.db_table, _json_rows(model, names).names
    group = [column for column in columns[:-n_counts] if has_key or column != "key_id"]
    target = f"({', '.join(group)}) WHERE key_id IS {'NOT ' if has_key else ''}NULL{condition}"
    sums = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in columns[-n_counts:])
    return f"ON CONFLICT {target} DO UPDATE SET {sums}"


def _sort_key(item: tuple[Row, list[int]]) -> tuple[Any, ...]:
    account_id, key_id, *others = item[0]
    return account_id, key_id or 0, *others
