"""Find a key by its secret: the first query of every API request.

Django's ORM takes several times as long to build this query as the database takes to run it. So
KeyLookup builds it once and creates the model instances itself: 7 µs of CPU for a key with its
account and wallet. Model.from_db takes 9 µs more, a query that the ORM compiles once takes 11 µs
more, and a query set takes 500 µs.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Field, Model, OneToOneRel
from django.db.models.base import ModelState

from accounts.models import Account
from apikeys import crypto
from apikeys.models.keys import ApiKey
from runtime.database.coalescing import Coalescer
from runtime.database.raw_sql import execute

Row = Sequence[object]
Instance = TypeVar("Instance", bound=Model)

# A timestamp takes longer to read than ten other columns.
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
    """Read keys with their accounts, and relations of the accounts, in one query.

    Concurrent requests share the query.
    """

    def __init__(self, account_relations: tuple[str, ...] = ()) -> None:
        """Also join `account_relations`, which are one-to-one relations of Account."""
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
        """Return the key, whose digest may still have been made with the previous pepper."""
        peppers = (settings.API_KEY_PEPPER, settings.API_KEY_PEPPER_PREVIOUS)
        digests = tuple(crypto.digest(secret, pepper) for pepper in peppers if pepper)
        key = self._coalescer.submit(digests)
        if key is not None:
            # record_use stores this digest, so that operators can remove the previous pepper.
            key.digest = digests[0]
        return key

    def _find_all(self, searches: list[tuple[str, ...]]) -> list[ApiKey | None]:
        digests = list(dict.fromkeys(digest for search in searches for digest in search))
        param = json.dumps(digests) if self._is_sqlite else ",".join(digests)
        keys = {key.digest: key for key in map(self._make_key, execute(self._statement, [param]))}
        return [next(filter(None, map(keys.get, search)), None) for search in searches]

    def _make_key(self, row: Row) -> ApiKey:
        values = iter(row)
        key, account = self._keys.make_instance(values), self._accounts.make_instance(values)
        key._state.fields_cache["account"] = account
        for relation, table in self._related:
            # Not the other way as well: objects that refer to each other stay until a full garbage
            # collection.
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
        # For all digests together, PostgreSQL would read tables of a thousand rows from end to end,
        # which takes ten times as long. psycopg takes longer to adapt a list than a joined string.
        digests = "unnest(string_to_array(%s, ',')) AS wanted"
        return f"SELECT found.* FROM {digests}, LATERAL ({select} = wanted LIMIT 1) AS found"  # noqa: S608


class _JoinedTable(Generic[Instance]):
    """The columns of a row that belong to one model, without those that no request needs."""

    def __init__(self, model: type[Instance]) -> None:
        fields = [field for field in model._meta.concrete_fields if field.name not in _DEFERRED]
        self.name = connection.ops.quote_name(model._meta.db_table)
        self.columns = [f"{self.name}.{field.column}" for field in fields]
        self._model = model
        self._names = [field.attname for field in fields]
        self._converters = [
            (field.attname, convert, field.cached_col)
            for field in fields
            for convert in _get_converters(field)
        ]

    def make_instance(self, row: Iterator[object]) -> Instance:
        """Take the model's values from the row. Does the same as Model.from_db, without signals."""
        values = dict(zip(self._names, row))  # noqa: B905 - the rest belongs to the next model
        for name, convert, column in self._converters:
            values[name] = convert(values[name], column, connection)
        state = ModelState()
        state.db, state.adding = DEFAULT_DB_ALIAS, False
        instance = self._model.__new__(self._model)
        instance.__dict__ = {"_state": state, **values}
        return instance


def _get_converters(field: "Field[object, object]") -> list[Callable[..., object]]:
    """Return the functions that convert the driver's value to the field's."""
    by_type = connection.ops.get_db_converters(field.cached_col)
    return [*by_type, *field.get_db_converters(connection)]
