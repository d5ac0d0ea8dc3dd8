"""Find and store many rows in one statement. The ORM would take longer than PostgreSQL."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from django.db import models

from lists.models import AddressList, ListAddress, ListDomain
from runtime.database.raw_sql import BulkInsert, JsonTable, Row, execute

ADDRESSES = JsonTable(
    list_id=models.BigIntegerField(), digest=models.UUIDField(), row=models.IntegerField()
)
DOMAINS = JsonTable(
    list_id=models.BigIntegerField(),
    domain=models.TextField(),
    block=models.IntegerField(),
    route=models.TextField(),
)
_DIGESTS = JsonTable(number=models.IntegerField(), digest=models.UUIDField())
_NAMES = JsonTable(domain=models.TextField())


def find_addresses(address_list: AddressList, digests: Sequence[str]) -> dict[str, int]:
    """Return the row in which each known address occurs first."""
    # By number, because databases return digests in different forms.
    value = _DIGESTS.value(enumerate(digests))
    statement = _find(ListAddress, _DIGESTS, "number", "digest", "row")
    return {digests[number]: row for number, row in _found(statement, address_list, value)}


def find_domains(address_list: AddressList, domains: Iterable[str]) -> dict[str, str]:
    """Return the stored route of each known domain."""
    value = _NAMES.value((domain,) for domain in domains)
    statement = _find(ListDomain, _NAMES, "domain", "domain", "route")
    return {row[0]: row[1] for row in _found(statement, address_list, value)}


def insert_addresses(rows: Sequence[Row]) -> None:
    BulkInsert(ListAddress._meta.db_table, ADDRESSES, rows).run()


def insert_domains(rows: Sequence[Row]) -> None:
    BulkInsert(ListDomain._meta.db_table, DOMAINS, rows).run()


def store_routes(address_list: AddressList, block: int, routes: Mapping[str, str]) -> None:
    rows = [(address_list.pk, domain, block, route) for domain, route in routes.items()]
    ending = "ON CONFLICT (list_id, domain) DO UPDATE SET route = excluded.route"
    BulkInsert(ListDomain._meta.db_table, DOMAINS, rows, ending).run()


def _found(statement: str, address_list: AddressList, value: str) -> list[Row]:
    return [row for row in execute(statement, [address_list.pk, value]) if row[1] is not None]


@cache
def _find(model: type[models.Model], inputs: JsonTable, key: str, column: str, wanted: str) -> str:
    """Return a SELECT that uses an index. SQLite would run a join as a scan."""
    table = model._meta.db_table
    return (
        f"SELECT {key}, (SELECT {wanted} FROM {table} known WHERE list_id = %s "  # noqa: S608
        f"AND known.{column} = input_rows.{column}) FROM {inputs.table}"
    )
