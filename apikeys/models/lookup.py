"""Find a key by its secret: the first query of every API request.

The SQL is built once: the ORM takes longer to build this query than the database to run it.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model, OneToOneRel

from accounts.models import Account
from apikeys import crypto
from apikeys.models.keys import ApiKey
from runtime.database.coalescing import Coalescer
from runtime.database.raw_sql import execute

Instance = TypeVar("Instance", bound=Model)

# Reading a timestamp takes longer than ten other columns.
_DEFERRED = {
    "created_at",
    "expiry_announced_at",
    "form_token",
    "limit_announced_at",
    "limit_warned_at",
    "origin",
    "replaced_by",
}


class KeyLookup:
    """Read keys, accounts and their relations in one query, shared by concurrent requests."""

    def __init__(self, account_relations: tuple[str, ...] = ()) -> None:
        """`account_relations`: one-to-one relations to join."""
        relations = map(Account._meta.get_field, account_relations)
        self._keys, self._accounts = _JoinedTable(ApiKey), _JoinedTable(Account)
        self._related = [
            (relation, _JoinedTable(relation.field.model))
            for relation in relations
            if isinstance(relation, OneToOneRel)
        ]
        self._is_sqlite = connection.vendor == "sqlite"
        self._statement = self._build_statement()
        self._coalescer = Coalescer(self._find_all)

    def find(self, secret: str) -> ApiKey | None:
        peppers = (settings.API_KEY_PEPPER, settings.API_KEY_PEPPER_PREVIOUS)
        digests = tuple(crypto.digest(secret, pepper) for pepper in peppers if pepper)
        key = self._coalescer.submit(digests)
        if key is not None:
            # record_use stores it, so that operators can remove the previous pepper.
            key.digest = digests[0]
        return key

    def _find_all(self, searches: list[tuple[str, ...]]) -> list[ApiKey | None]:
        digests = list(dict.fromkeys(digest for search in searches for digest in search))
        param = json.dumps(digests) if self._is_sqlite else ",".join(digests)
        keys = {key.digest: key for key in map(self._make_key, execute(self._statement, [param]))}
        return [next(filter(None, map(keys.get, search)), None) for search in searches]

    def _make_key(self, row: Sequence[object]) -> ApiKey:
        values = iter(row)
        key, account = self._keys.make_instance(values), self._accounts.make_instance(values)
        key._state.fields_cache["account"] = account
        for relation, table in self._related:
            # Not both ways, as a cycle would stay until a garbage collection.
            relation.set_cached_value(account, table.make_instance(values))
        return key

    def _build_statement(self) -> str:
        keys, accounts = self._keys, self._accounts
        columns = [*keys.columns, *accounts.columns]
        joins = f" JOIN {accounts.name} ON {accounts.name}.id = {keys.name}.account_id"
        for relation, table in self._related:
            columns += table.columns
            column = f"{table.name}.{relation.field.column}"
            joins += f" JOIN {table.name} ON {column} = {accounts.name}.id"
        select = f"SELECT {', '.join(columns)} FROM {keys.name}{joins} WHERE {keys.name}.digest"  # noqa: S608
        if self._is_sqlite:
            return f"{select} IN (SELECT value FROM json_each(%s))"  # noqa: S608
        # With IN, PostgreSQL would scan the table. psycopg adapts strings faster than lists.
        digests = "unnest(string_to_array(%s, ',')) AS wanted"
        return f"SELECT found.* FROM {digests}, LATERAL ({select} = wanted LIMIT 1) AS found"  # noqa: S608


class _JoinedTable(Generic[Instance]):
    def __init__(self, model: type[Instance]) -> None:
        fields = [field for field in model._meta.concrete_fields if field.name not in _DEFERRED]
        self.name = connection.ops.quote_name(model._meta.db_table)
        self.columns = [f"{self.name}.{field.column}" for field in fields]
        self._model = model
        self._names = [field.attname for field in fields]
        self._converters = [
            (field.attname, convert, field.cached_col)
            for field in fields
            for convert in (
                *connection.ops.get_db_converters(field.cached_col),
                *field.get_db_converters(connection),
            )
        ]

    def make_instance(self, row: Iterator[object]) -> Instance:
        values = dict(zip(self._names, row))  # noqa: B905 - the rest belongs to the next model
        for name, convert, column in self._converters:
            values[name] = convert(values[name], column, connection)
        return self._model.from_db(DEFAULT_DB_ALIAS, values.keys(), list(values.values()))
