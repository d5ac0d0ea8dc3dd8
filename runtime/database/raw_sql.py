"""Run SQL for metered calls: the ORM needs longer to build it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache, cached_property
from typing import Any, NamedTuple

import orjson
from django.db import (
    InterfaceError,
    InternalError,
    OperationalError,
    connection,
    models,
    transaction,
)

from runtime.metrics.client import Counter, initialize

Row = Sequence[Any]

# A standby server raises InternalError.
UNAVAILABLE = (OperationalError, InterfaceError, InternalError)


class OutcomeUnknown(OperationalError):
    """Raised if the connection is lost during COMMIT: the rows may be stored or not."""


times_unavailable = Counter(
    "emailvalidation_database_unavailable",
    "Times the database was unavailable, by where: api, page, background, write_buffer, replica.",
    ("where",),
)
initialize(times_unavailable, ("api", "page", "background", "write_buffer", "replica"))


def execute(statement: str, values: Row) -> list[Row]:
    rows: list[Row]
    if connection.vendor == "postgresql":
        rows = connection.run_prepared(statement, values)  # type: ignore[attr-defined]
    else:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            rows = cursor.fetchall()
    return rows


@contextmanager
def atomic() -> Iterator[None]:
    """Open a transaction that may raise OutcomeUnknown."""
    is_committing = False
    try:
        with transaction.atomic():
            yield
            is_committing = True
    except UNAVAILABLE as error:
        if is_committing and _is_outcome_unknown(error):
            raise OutcomeUnknown("The connection was lost during COMMIT.") from error
        raise


def _run_as_transaction(statement: str, values: Row) -> list[Row]:
    if connection.in_atomic_block:
        # If it fails, PostgreSQL would end the caller's transaction.
        with transaction.atomic():
            return execute(statement, values)
    # If this fails, nothing was sent.
    connection.ensure_connection()
    try:
        return execute(statement, values)
    except UNAVAILABLE as error:
        if _is_outcome_unknown(error):
            raise OutcomeUnknown("The connection was lost during a statement.") from error
        raise


def _is_outcome_unknown(error: Exception) -> bool:
    """Return whether the transaction may be stored despite this error.

    PostgreSQL has rolled back if it reported an ERROR, and SQLite, whose errors have no `diag`, if
    COMMIT fails.
    """
    diagnostics = getattr(error.__cause__, "diag", None)
    return diagnostics is not None and diagnostics.severity_nonlocalized != "ERROR"


class JsonTable:
    """Pass rows as one JSON parameter."""

    def __init__(self, **columns: models.Field[Any, Any]) -> None:
        self.names = tuple(columns)
        self._columns = columns

    @classmethod
    @cache
    def of_model(cls, model: type[models.Model]) -> "JsonTable":
        """Return all columns that the database doesn't assign."""
        fields: list[Any] = [*model._meta.concrete_fields]
        return cls(
            **{each.column: each for each in fields if not isinstance(each, models.AutoField)}
        )

    def value(self, rows: Iterable[Row]) -> str:
        objects = [dict(zip(self.names, row, strict=True)) for row in rows]
        if connection.vendor == "postgresql":
            return orjson.dumps(objects, str).decode()
        return orjson.dumps(objects, _to_text, orjson.OPT_PASSTHROUGH_DATETIME).decode()

    @cached_property
    def table(self) -> str:
        """Return an expression with one placeholder and the alias `input_rows`."""
        if connection.vendor == "postgresql":
            types = (f"{name} {field.db_type(connection)}" for name, field in self._columns.items())
            return f"json_to_recordset(%s) AS input_rows({', '.join(types)})"
        columns = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in self.names)
        return f"(SELECT {columns} FROM json_each(%s)) AS input_rows"  # noqa: S608


class BulkInsert(NamedTuple):
    table: str
    columns: JsonTable
    rows: Sequence[Row]
    ending: str = ""
    # Takes the decision's second column.
    decided_column: str = ""

    def run(self) -> None:
        if self.rows:
            execute(self.statement(), [self.value])

    def statement(self, condition: str = "true") -> str:
        names = values = ", ".join(self.columns.names)
        tables = self.columns.table
        if self.decided_column:
            tables += " JOIN decided USING (account_id)"
            values = names.replace(self.decided_column, f"decided.{self.decided_column}")
        # Without WHERE, SQLite would read ON CONFLICT as the ON of a join.
        return (
            f"INSERT INTO {self.table} ({names}) SELECT {values} FROM {tables} "  # noqa: S608
            f"WHERE {condition} {self.ending}"
        )

    @property
    def value(self) -> str:
        return self.columns.value(self.rows)

    def for_accounts(self, accounts: dict[int, Any]) -> "BulkInsert":
        index = self.columns.names.index("account_id")
        rows = [row for row in self.rows if row[index] in accounts]
        if self.decided_column:
            decided = self.columns.names.index(self.decided_column)
            rows = [(*row[:decided], accounts[row[index]], *row[decided + 1 :]) for row in rows]
        return self._replace(rows=rows, decided_column="")


def decide_and_insert(decision: str, value: str, *inserts: BulkInsert) -> list[Row]:
    """In one transaction, insert the rows of the accounts that `decision` returns.

    Its rows begin with `account_id`.
    """
    if connection.vendor == "postgresql":
        # One statement takes one round trip.
        condition = "account_id IN (SELECT account_id FROM decided)"
        parts = (f"part_{n} AS ({insert.statement(condition)})" for n, insert in enumerate(inserts))
        ctes = ", ".join((f"decided AS ({decision})", *parts))
        values = [value, *(insert.value for insert in inserts)]
        return _run_as_transaction(f"WITH {ctes} SELECT * FROM decided", values)  # noqa: S608
    with transaction.atomic():
        decided = execute(decision, [value])
        accounts = {row[0]: row[1] for row in decided}
        for insert in inserts:
            insert.for_accounts(accounts).run()
    return decided


def _to_text(value: object) -> str:
    """SQLite compares timestamps as text."""
    if isinstance(value, datetime):
        return str(connection.ops.adapt_datetimefield_value(value))
    return str(value)
