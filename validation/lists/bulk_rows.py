"""Find and update a thousand of a list's addresses or domains in one statement.

The ORM takes longer to build a statement with so many values than PostgreSQL takes to run it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from django.db import models

from runtime.database.raw_sql import JsonTable, execute
from validation.models import AddressList, ListAddress, ListDomain

_DIGESTS = JsonTable(number=models.IntegerField(), digest=models.UUIDField())
_DOMAINS = JsonTable(domain=models.TextField())
_ROUTES = JsonTable(domain=models.TextField(), route=models.TextField())


def find_addresses(address_list: AddressList, digests: Sequence[str]) -> dict[str, int]:
    """Return the row in which each address occurs first, by digest. New ones are left out."""
    # By number, because the databases return digests in different forms.
    value = _DIGESTS.value(enumerate(digests))
    rows = execute(_find(ListAddress, _DIGESTS, "number, row", "digest"), [value, address_list.pk])
    return {digests[number]: row for number, row in rows}


def find_domains(address_list: AddressList, domains: Iterable[str]) -> dict[str, str]:
    """Return the stored route of each domain of the list. Others are left out."""
    value = _DOMAINS.value((domain,) for domain in domains)
    rows = execute(
        _find(ListDomain, _DOMAINS, "known.domain, route", "domain"), [value, address_list.pk]
    )
    return {row[0]: row[1] for row in rows}


def store_routes(address_list: AddressList, routes: Mapping[str, str]) -> None:
    """Store the route of each domain."""
    execute(_store_routes(), [_ROUTES.value(routes.items()), address_list.pk])


@cache
def _store_routes() -> str:
    table = ListDomain._meta.db_table
    return (
        f"UPDATE {table} SET route = input_rows.route FROM {_ROUTES.table} "  # noqa: S608
        f"WHERE list_id = %s AND {table}.domain = input_rows.domain"
    )


@cache
def _find(model: type[models.Model], inputs: JsonTable, columns: str, key: str) -> str:
    return (
        f"SELECT {columns} FROM {inputs.table} JOIN {model._meta.db_table} known "  # noqa: S608
        f"ON known.{key} = input_rows.{key} WHERE list_id = %s"
    )
