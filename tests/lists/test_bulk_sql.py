"""Known addresses and domains of a list are found by its indexes, however long it is."""

import pytest
from django.db import connection

from accounts.models import Account
from lists import bulk_sql
from lists.bulk_sql import find_addresses, find_domains, insert_addresses, store_routes
from lists.models import AddressList, ListAddress, ListDomain
from tests.lists.factory import make_started_list
from validation.addresses import address_hash

pytestmark = pytest.mark.django_db

EMAILS = ["jane@shop.com", "john@shop.com", "jane@office.com"]


@pytest.fixture
def address_list(account: Account) -> AddressList:
    return make_started_list(account, EMAILS)


def test_known_addresses_are_found_with_their_row(address_list: AddressList) -> None:
    known, new = address_hash(EMAILS[1]), address_hash("new@shop.com")
    insert_addresses([(address_list.pk, known, 2)])
    assert find_addresses(address_list, [new, known]) == {known: 2}


def test_domains_are_found_with_their_stored_route(address_list: AddressList) -> None:
    store_routes(address_list, 0, {"shop.com": "{}"})
    assert find_domains(address_list, ["office.com", "shop.com", "new.com"]) == {
        "office.com": "",
        "shop.com": "{}",
    }
    assert ListDomain.objects.filter(list=address_list).count() == 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL's plans depend on the rows.")
def test_each_row_is_looked_up_by_the_index(address_list: AddressList) -> None:
    for model, inputs, column, wanted in (
        (ListAddress, bulk_sql._DIGESTS, "digest", "row"),
        (ListDomain, bulk_sql._NAMES, "domain", "route"),
    ):
        statement = bulk_sql._find(model, inputs, column, column, wanted)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}", [address_list.pk, "[]"])
            plan = " ".join(row[3] for row in cursor.fetchall())
        assert f"(list_id=? AND {column}=?)" in plan
