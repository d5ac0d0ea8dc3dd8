"""Known addresses and domains of a list are found by its indexes, however long it is."""

import pytest
from django.db import connection

from accounts.models import Account
from lists import bulk_sql
from lists.models import ListAddress, ListDomain
from tests.lists.factory import make_started_list

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL's plans depend on the rows.")
def test_each_row_is_looked_up_by_the_index(account: Account) -> None:
    address_list = make_started_list(account, ["jane@shop.com"])
    for model, inputs, column, wanted in (
        (ListAddress, bulk_sql._DIGESTS, "digest", "row"),
        (ListDomain, bulk_sql._NAMES, "domain", "route"),
    ):
        statement = bulk_sql._find(model, inputs, column, column, wanted)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}", [address_list.pk, "[]"])
            plan = " ".join(row[3] for row in cursor.fetchall())
        assert f"(list_id=? AND {column}=?)" in plan
