"""Insert the rows of a customer who signed up, without running again the services that wrote them.

Thousands of tests start with the same customer and key. Signing up takes some fifty queries.
"""

from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any

import time_machine
from django.db import connection, transaction
from django.utils import timezone

Row = tuple[Any, ...]


class CopiedRows:
    """The rows that `create` adds to a database without users, with the time of each copy."""

    def __init__(self, create: Callable[[], Any]) -> None:
        self._moment = timezone.now()
        with time_machine.travel(self._moment, tick=False), transaction.atomic():
            before = _all_rows()
            # What `create` returned.
            self.created = create()
            after = _all_rows()
            transaction.set_rollback(True)
        assert all(row in after[table] for table, rows in before.items() for row in rows)
        # A table that refers to another one was created after it.
        self._added = {
            table: added
            for table, rows in after.items()
            if (added := [row for row in rows if row not in before[table]])
        }

    @property
    def day(self) -> date:
        """The day for which the rows are right: plans and balances depend on it."""
        return self._moment.date()

    def insert(self) -> None:
        created, now = self._adapt(self._moment), self._adapt(timezone.now())
        with connection.cursor() as cursor:
            for table, rows in self._added.items():
                marks = ", ".join(["%s"] * len(rows[0]))
                for row in rows:
                    values = [now if value == created else value for value in row]
                    cursor.execute(f'INSERT INTO "{table}" VALUES ({marks})', values)  # noqa: S608

    def _adapt(self, moment: datetime) -> Any:
        return connection.ops.adapt_datetimefield_value(moment)


def _all_rows() -> dict[str, list[Row]]:
    return {table: list(_rows(table)) for table in connection.introspection.django_table_names()}


def _rows(table: str) -> Iterator[Row]:
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
        yield from cursor.fetchall()
