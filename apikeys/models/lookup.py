"""Find a key by its secret: the first query of every API request.

Django's ORM takes several times as long to build this query as the database takes to run it. So
KeyLookup builds it once and creates the model instances itself.
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
    """Read keys with their accounts, and relations of the accounts, in one query.

    Concurrent requests share the query.
    """

    def __init__(self, account_relations: tuple[str, ...] = ()) -> None:
        """Also join `account_relations`, which are one-to-one relations of Account."""
        self._relations: list[Any] = [Account._meta.get_field(name) for name in account_relations]
        self._coalescer = Coalescer(self._find_all)

    def find(self, secret: str) -> ApiKey | None:
        """Return the key, whose digest may still have been made with the previous pepper."""
        peppers = (settings.API_KEY_PEPPER, settings.API_KEY_PEPPER_PREVIOUS)
        digests = tuple(crypto.digest(secret, pepper) for pepper in peppers if pepper)
        key = self._coalescer.submit(digests)
        if key is not None:
            # record_use stores this digest, so that operators can remove the previous pepper.
            key.digest = digests[0]
        return key

    def _find_all(self, searches: list[tuple[str, ...]]) -> list[ApiKey | None]:
        digests = [digest for search in searches for digest in search]
        param = json.dumps(digests) if self._is_sqlite else ",".join(digests)
        keys = {key.digest: key for key in map(self._make_key, execute(self._statement, [param]))}
        return [
            next((keys[digest] for digest in search if digest in keys), None) for search in searches
        ]

    def _make_key(self, row: Row) -> ApiKey:
        key: ApiKey
        key, account, *related_objects = (table.make_instance(row) for table in self._tables)
        ApiKey._meta.get_field("account").set_cached_value(key, account)
        for relation, related in zip(self._relations, related_objects, strict=True):
            relation.set_cached_value(account, related)
            relation.field.set_cached_value(related, account)
        return key

    @cached_property
    def _statement(self) -> str:
        keys, accounts, *others = (table.name for table in self._tables)
        columns = ", ".join(column for table in self._tables for column in table.columns)
        joins = f" JOIN {accounts} ON {accounts}.id = {keys}.account_id"
        for name, relation in zip(others, self._relations, strict=True):
            joins += f" JOIN {name} ON {name}.{relation.field.column} = {accounts}.id"
        # psycopg takes longer to adapt a list than a joined string.
        on_postgresql = "= ANY(string_to_array(%s, ','))"
        matches = "IN (SELECT value FROM json_each(%s))" if self._is_sqlite else on_postgresql
        return f"SELECT {columns} FROM {keys}{joins} WHERE {keys}.digest {matches}"  # noqa: S608

    @cached_property
    def _is_sqlite(self) -> bool:
        return connection.vendor == "sqlite"

    @cached_property
    def _tables(self) -> list["_JoinedTable"]:
        tables, start = [], 0
        for model in (ApiKey, Account, *(relation.related_model for relation in self._relations)):
            tables.append(_JoinedTable(model, start))
            start += len(tables[-1].columns)
        return tables


class _JoinedTable:
    """The columns of a row that belong to one model.

    `created_at` is deferred: requests don't need it, and a timestamp takes longer to read than ten
    other columns.
    """

    def __init__(self, model: type[models.Model], start: int) -> None:
        fields = [field for field in model._meta.concrete_fields if field.name != "created_at"]
        self.name = connection.ops.quote_name(model._meta.db_table)
        self.columns = [f"{self.name}.{field.column}" for field in fields]
        self._model, self._slice = model, slice(start, start + len(fields))
        self._names = [field.attname for field in fields]
        self._converters = [
            (field.attname, converters, field.get_col(model._meta.db_table))
            for field in fields
            if (converters := _get_converters(field))
        ]

    def make_instance(self, row: Row) -> Any:
        """Do the same as Model.from_db, whose signals and checks take longer than the query."""
        values = dict(zip(self._names, row[self._slice], strict=True))
        for name, converters, column in self._converters:
            for convert in converters:
                values[name] = convert(values[name], column, connection)
        state = ModelState()
        state.db, state.adding = DEFAULT_DB_ALIAS, False
        instance = self._model.__new__(self._model)
        instance.__dict__ = {"_state": state, **values}
        return instance


def _get_converters(field: Any) -> list[Any]:
    """Return the functions that convert the driver's value to the field's."""
    column = field.get_col(field.model._meta.db_table)
    return [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]
