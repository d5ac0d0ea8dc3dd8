"""The few statements that every metered call makes. They are written by hand, prepared once for a
connection, and take many rows at a time: to build them anew costs more than to execute them."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

import orjson
from django.db import connection, models


def run(statement: str, values: Sequence[Any]) -> list[Any]:
    """The rows that come back."""
    # A method of our own backends, config/postgresql and config/sqlite.
    rows: list[Any] = connection.run_prepared(statement, values)  # type: ignore[attr-defined]
    return rows


class Rows:
    """Any number of rows, handed over as one value: JSON, which both databases read as a table."""

    def __init__(self, **columns: models.Field[Any, Any]) -> None:
        """By their names: fields of such a type."""
        self.names = tuple(columns)
        self._columns = columns

    def value(self, rows: Iterable[Sequence[Any]]) -> str:
        """What stands for `table` among the statement's values."""
        named = [dict(zip(self.names, row, strict=True)) for row in rows]
        return orjson.dumps(named, _plain, orjson.OPT_PASSTHROUGH_DATETIME).decode()

    @cached_property
    def table(self) -> str:
        """It is called `given`."""
        if connection.vendor == "postgresql":
            types = (f"{name} {field.db_type(connection)}" for name, field in self._columns.items())
            return f"json_to_recordset(%s) AS given({', '.join(types)})"
        columns = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in self.names)
        return f"(SELECT {columns} FROM json_each(%s)) AS given"  # noqa: S608 - our own names

    def insert_into(self, table: str) -> str:
        names = ", ".join(self.names)
        # Without WHERE, SQLite would take an ON CONFLICT that follows for the ON of a join.
        return f"INSERT INTO {table} ({names}) SELECT {names} FROM {self.table} WHERE true"  # noqa: S608


def _plain(value: Any) -> Any:
    """As the database's columns hold it: SQLite compares moments as texts."""
    if isinstance(value, datetime):
        return str(connection.ops.adapt_datetimefield_value(value))
    return str(value)
