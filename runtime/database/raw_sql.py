"""Run the few hand-written SQL statements that every metered request needs.

They are prepared once per connection and take many rows at a time: building them with the ORM
costs more than executing them.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
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

# What Django raises while the database is unavailable; retrying right away is pointless. A standby
# server that can't write raises InternalError.
UNAVAILABLE = (OperationalError, InterfaceError, InternalError)


class OutcomeUnknown(OperationalError):
    """The connection was lost after a COMMIT was sent: the transaction may or may not be stored."""


times_unavailable = Counter(
    "emailvalidation_database_away",
    "Times the database was unavailable to: api, page, background, or later (buffered writes).",
    ("where",),
)
initialize(times_unavailable, ("api", "page", "background", "later"))


def execute(statement: str, values: Row) -> list[Row]:
    """Execute a prepared statement and return its rows."""
    # A method of our own backends, runtime/database/postgresql and runtime/database/sqlite.
    rows: list[Row] = connection.run_prepared(statement, values)  # type: ignore[attr-defined]
    return rows


@contextmanager
def atomic() -> Iterator[None]:
    """Open a transaction that raises OutcomeUnknown if the connection is lost during COMMIT."""
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
    """Execute one statement in autocommit mode, where PostgreSQL commits it when it ends."""
    # Outside the try block: if connecting fails, nothing was sent.
    connection.ensure_connection()
    try:
        return execute(statement, values)
    except UNAVAILABLE as error:
        if _is_outcome_unknown(error):
            raise OutcomeUnknown("The connection was lost during a statement.") from error
        raise


def _is_outcome_unknown(error: Exception) -> bool:
    """Return whether the transaction may be stored despite this error.

    PostgreSQL rolled it back if it reported severity ERROR. SQLite, whose errors have no `diag`,
    rolls back a transaction whose COMMIT fails.
    """
    diagnostics = getattr(error.__cause__, "diag", None)
    return diagnostics is not None and diagnostics.severity_nonlocalized != "ERROR"


# The column by which the rows of a BulkInsert find the values that they share.
SHARED_ROW = "shared_row"


class JsonTable:
    """Pass any number of rows as one JSON parameter, which both databases can read as a table."""

    def __init__(self, **columns: models.Field[Any, Any]) -> None:
        """`columns`: model fields whose types the columns have, by column name."""
        self.names = tuple(columns)
        self._columns = columns

    def value(self, rows: Iterable[Row]) -> str:
        """Return the statement's parameter for `table`."""
        objects = [dict(zip(self.names, row, strict=True)) for row in rows]
        if connection.vendor == "postgresql":
            return orjson.dumps(objects, str).decode()
        return orjson.dumps(objects, _to_text, orjson.OPT_PASSTHROUGH_DATETIME).decode()

    @cached_property
    def table(self) -> str:
        """Return an SQL table expression with one placeholder; its alias is `input_rows`."""
        return self._table("input_rows")

    @cached_property
    def shared_table(self) -> str:
        """Return the same for values that rows share; its alias is `shared_values`."""
        # A LIMIT keeps SQLite from reading these values from the JSON again for each row.
        return self._table("shared_values", sqlite_limit="LIMIT -1")

    def _table(self, alias: str, *, sqlite_limit: str = "") -> str:
        if connection.vendor == "postgresql":
            types = (f"{name} {field.db_type(connection)}" for name, field in self._columns.items())
            return f"json_to_recordset(%s) AS {alias}({', '.join(types)})"
        columns = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in self.names)
        return f"(SELECT {columns} FROM json_each(%s) {sqlite_limit}) AS {alias}"  # noqa: S608


class BulkInsert(NamedTuple):
    """An INSERT of many rows into a table that has a column `account_id`."""

    table: str
    columns: JsonTable
    rows: Sequence[Row]
    # Appended to the statement: an ON CONFLICT clause, for example.
    ending: str = ""
    # Other columns, whose values are the same in many rows, and sent and parsed once. Both tables
    # then have a column SHARED_ROW, which joins them, and all rows belong to one account.
    shared_columns: JsonTable = JsonTable()
    shared_rows: Sequence[Row] = ()

    def run(self) -> None:
        if self.rows:
            execute(self.statement(), self.values)

    def statement(self, condition: str = "true") -> str:
        columns = (*self.columns.names, *self.shared_columns.names)
        names = ", ".join(name for name in columns if name != SHARED_ROW)
        tables = self.columns.table
        if self.shared_columns.names:
            tables += f" JOIN {self.shared_columns.shared_table} USING ({SHARED_ROW})"
        # Without WHERE, SQLite would take the ON of an ON CONFLICT for the ON of a join.
        return (
            f"INSERT INTO {self.table} ({names}) SELECT {names} FROM {tables} "  # noqa: S608
            f"WHERE {condition} {self.ending}"
        )

    @property
    def values(self) -> list[str]:
        """Return the statement's parameters."""
        values = [self.columns.value(self.rows)]
        if self.shared_columns.names:
            values.append(self.shared_columns.value(self.shared_rows))
        return values

    def for_accounts(self, accounts: set[int]) -> "BulkInsert":
        if "account_id" in self.shared_columns.names:
            account = self.shared_rows[0][self.shared_columns.names.index("account_id")]
            return self if account in accounts else self._replace(rows=[])
        index = self.columns.names.index("account_id")
        return self._replace(rows=[row for row in self.rows if row[index] in accounts])


def decide_and_insert(decision: str, value: str, *inserts: BulkInsert) -> list[Row]:
    """Run `decision`, then insert the rows of the accounts it returns, in one transaction.

    The first column that `decision` returns must be `account_id`. Return its rows.
    """
    if connection.vendor == "postgresql":
        # One statement is one transaction and one round trip.
        condition = "account_id IN (SELECT account_id FROM decided)"
        parts = (f"part_{n} AS ({insert.statement(condition)})" for n, insert in enumerate(inserts))
        ctes = ", ".join((f"decided AS ({decision})", *parts))
        values = [value, *(each for insert in inserts for each in insert.values)]
        return _run_as_transaction(f"WITH {ctes} SELECT * FROM decided", values)  # noqa: S608
    with transaction.atomic():
        decided = execute(decision, [value])
        accounts = {row[0] for row in decided}
        for insert in inserts:
            insert.for_accounts(accounts).run()
    return decided


def _to_text(value: object) -> str:
    """Convert a value to the text that SQLite stores, which compares timestamps as text."""
    if isinstance(value, datetime):
        return str(connection.ops.adapt_datetimefield_value(value))
    return str(value)
