"""Which key a secret is of: the first thing that every request asks the database.

Django's ORM would take several times as long to write this query as the database to answer it. So
it is written once, and what it brings is put together by hand.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, models
from django.db.models.base import ModelState

from accounts.models import Account
from apikeys import crypto
from apikeys.models.keys import ApiKey
from runtime.database.coalescing import Coalescer
from runtime.database.raw_sql import execute

Row = Sequence[Any]


class KeyLookup:
    """Key, account, and what an upper floor wants to know of the account, in one query. Requests
    that come at the same moment share it."""

    def __init__(self, reads: tuple[str, ...] = ()) -> None:
        """`reads`: rows that each account has one of, by the names of their relations."""
        self._relations: list[Any] = [Account._meta.get_field(name) for name in reads]
        self._together = Coalescer(self._find_all)

    def find(self, secret: str) -> ApiKey | None:
        """Also while the pepper is being replaced."""
        peppers = (settings.API_KEY_PEPPER, settings.API_KEY_PEPPER_PREVIOUS)
        digests = tuple(crypto.digest(secret, pepper) for pepper in peppers if pepper)
        key = self._together.ask(digests)
        if key is not None:
            # The next note of its use brings it under the newest pepper: the old one can go then.
            key.digest = digests[0]
        return key

    def _find_all(self, asked: list[tuple[str, ...]]) -> list[ApiKey | None]:
        wanted = [digest for digests in asked for digest in digests]
        rows = execute(
            self._statement, [json.dumps(wanted) if self._is_sqlite else ",".join(wanted)]
        )
        found = {key.digest: key for key in map(self._key, rows)}
        return [next((found[one] for one in digests if one in found), None) for digests in asked]

    def _key(self, row: Row) -> ApiKey:
        key: ApiKey
        key, account, *others = (part.make(row) for part in self._parts)
        ApiKey._meta.get_field("account").set_cached_value(key, account)
        for relation, one in zip(self._relations, others, strict=True):
            relation.set_cached_value(account, one)
            relation.field.set_cached_value(one, account)
        return key

    @cached_property
    def _statement(self) -> str:
        keys, accounts, *others = (part.table for part in self._parts)
        columns = ", ".join(column for part in self._parts for column in part.columns)
        joins = f" JOIN {accounts} ON {accounts}.id = {keys}.account_id"
        for table, relation in zip(others, self._relations, strict=True):
            joins += f" JOIN {table} ON {table}.{relation.field.column} = {accounts}.id"
        # A list would take its driver longer to write than a text of it.
        of_postgresql = "= ANY(string_to_array(%s, ','))"
        among = "IN (SELECT value FROM json_each(%s))" if self._is_sqlite else of_postgresql
        return f"SELECT {columns} FROM {keys}{joins} WHERE {keys}.digest {among}"  # noqa: S608

    @cached_property
    def _is_sqlite(self) -> bool:
        return connection.vendor == "sqlite"

    @cached_property
    def _parts(self) -> list["_Part"]:
        parts, start = [], 0
        for model in (ApiKey, Account, *(one.related_model for one in self._relations)):
            parts.append(_Part(model, start))
            start += len(parts[-1].columns)
        return parts


class _Part:
    """The columns of a row that make one object. When it was made nobody wants to know, and a
    moment takes longer to read than ten other columns: who asks for it asks the database."""

    def __init__(self, model: type[models.Model], start: int) -> None:
        fields = [field for field in model._meta.concrete_fields if field.name != "created_at"]
        self.table = connection.ops.quote_name(model._meta.db_table)
        self.columns = [f"{self.table}.{field.column}" for field in fields]
        self._model, self._slice = model, slice(start, start + len(fields))
        self._names = [field.attname for field in fields]
        self._converters = [
            (field.attname, converters, field.get_col(model._meta.db_table))
            for field in fields
            if (converters := _converters(field))
        ]

    def make(self, row: Row) -> Any:
        """As Model.from_db would, whose signals and checks cost more than the query."""
        values = dict(zip(self._names, row[self._slice], strict=True))
        for name, converters, column in self._converters:
            for convert in converters:
                values[name] = convert(values[name], column, connection)
        state = ModelState()
        state.db, state.adding = DEFAULT_DB_ALIAS, False
        one = self._model.__new__(self._model)
        one.__dict__ = {"_state": state, **values}
        return one


def _converters(field: Any) -> list[Any]:
    """From what the driver brings to what the field holds."""
    column = field.get_col(field.model._meta.db_table)
    return [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]
