"""The few statements that every metered call makes. They are written by hand, prepared once for a
connection, and take many rows at a time: to build them anew costs more than to execute them."""

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

from runtime.metrics.registry import Counter

Row = Sequence[Any]

# What Django raises when the database is not there: nobody else needs to try then. The last is what
# a standby says that cannot write.
UNAVAILABLE = (OperationalError, InterfaceError, InternalError)


class OutcomeUnknown(OperationalError):
    """The connection was lost after a COMMIT was sent: the transaction may or may not be stored."""


times_unavailable = Counter(
    "database_away",
    "Times that somebody found the database away: api, page, background, or what is written later.",
    ("where",),
    at_first=("api", "page", "background", "later"),
)


def execute(statement: str, values: Sequence[Any]) -> list[Any]:
    """The rows that come back."""
    # A method of our own backends, config/postgresql and config/sqlite.
    rows: list[Any] = connection.run_prepared(statement, values)  # type: ignore[attr-defined]
    return rows


@contextmanager
def atomic() -> Iterator[None]:
    """A transaction that raises OutcomeUnknown where it cannot be known whether it is stored."""
    is_committing = False
    try:
        with transaction.atomic():
            yield
            is_committing = True
    except UNAVAILABLE as error:
        if is_committing and _leaves_open(error):
            raise OutcomeUnknown("The connection was lost during COMMIT.") from error
        raise


def _run_as_transaction(statement: str, values: Sequence[Any]) -> list[Any]:
    """PostgreSQL commits the statement when it ends, unless it is part of a transaction."""
    # Nothing is sent before there is a connection.
    connection.ensure_connection()
    try:
        return execute(statement, values)
    except UNAVAILABLE as error:
        if _leaves_open(error):
            raise OutcomeUnknown("The connection was lost during a statement.") from error
        raise


def _leaves_open(error: Exception) -> bool:
    """An error that the server reports and survives means that it undid the transaction. SQLite,
    which has no such report, undoes one whose COMMIT fails."""
    report = getattr(error.__cause__, "diag", None)
    return report is not None and report.severity_nonlocalized != "ERROR"


class JsonRows:
    """Any number of rows, handed over as one value: JSON, which both databases read as a table."""

    def __init__(self, **columns: models.Field[Any, Any]) -> None:
        """By their names: fields of such a type."""
        self.names = tuple(columns)
        self._columns = columns

    def value(self, rows: Iterable[Row]) -> str:
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


class BulkInsert(NamedTuple):
    """Rows that go into a table, with a column `account_id`."""

    table: str
    rows: JsonRows
    given: Sequence[Row]
    # ON CONFLICT …
    ending: str = ""

    def run(self) -> None:
        if self.given:
            execute(self.statement(), [self.value])

    def statement(self, condition: str = "true") -> str:
        names = ", ".join(self.rows.names)
        # Without WHERE, SQLite would take the ON of an ON CONFLICT for the ON of a join.
        return (
            f"INSERT INTO {self.table} ({names}) SELECT {names} FROM {self.rows.table} "  # noqa: S608
            f"WHERE {condition} {self.ending}"
        )

    @property
    def value(self) -> str:
        return self.rows.value(self.given)

    def only_of(self, accounts: set[int]) -> "BulkInsert":
        place = self.rows.names.index("account_id")
        return self._replace(given=[row for row in self.given if row[place] in accounts])


def decide_and_insert(decision: str, value: str, *insertions: BulkInsert) -> list[Any]:
    """Of the rows to be inserted those of the accounts that the decision brings back, in their
    first column. All of it, or nothing."""
    if connection.vendor == "postgresql":
        # One statement is one transaction, and one journey to the database and back.
        ours = "account_id IN (SELECT account_id FROM decided)"
        inserts = (f"part_{n} AS ({one.statement(ours)})" for n, one in enumerate(insertions))
        parts = ", ".join((f"decided AS ({decision})", *inserts))
        values = [value, *(one.value for one in insertions)]
        return _run_as_transaction(f"WITH {parts} SELECT * FROM decided", values)  # noqa: S608
    with transaction.atomic():
        decided = execute(decision, [value])
        accounts = {row[0] for row in decided}
        for one in insertions:
            one.only_of(accounts).run()
    return decided


def _plain(value: Any) -> Any:
    """As the database's columns hold it: SQLite compares moments as texts."""
    if isinstance(value, datetime):
        return str(connection.ops.adapt_datetimefield_value(value))
    return str(value)
