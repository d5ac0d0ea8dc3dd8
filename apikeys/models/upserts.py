"""Tables of counts by account, key and more.

Unique indexes treat NULLs as distinct, so the playground's rows, which have no key, need their own.
bulk_create() can neither target such an index nor add to stored values.
"""

from collections.abc import Iterable
from functools import cache

from django.db.models import BaseConstraint, Model, Q, UniqueConstraint

from runtime.database.raw_sql import BulkInsert, JsonTable, Row


def unique_by_key(name: str, *fields: str, **condition: object) -> list[BaseConstraint]:
    """Return the two constraints, for rows that meet `condition`."""
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
    """Return upserts that add counts to stored rows.

    `names`: account and key first, `n_counts` counts last.
    """
    sums: dict[Row, list[int]] = {}
    for row in rows:
        group_sums = sums.setdefault(row[:-n_counts], [0] * n_counts)
        for index, count in enumerate(row[-n_counts:]):
            group_sums[index] += count
    # Lock rows in one order, so that transactions can't deadlock.
    groups = sorted(sums, key=lambda group: (group[0], group[1] or 0, *group[2:]))
    sorted_rows = [(*group, *sums[group]) for group in groups]
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
