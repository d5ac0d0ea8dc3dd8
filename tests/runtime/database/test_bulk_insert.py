"""Rows of a BulkInsert that share values, which the database joins to them."""

from datetime import date

import pytest
from django.db import models

from runtime.database.raw_sql import SHARED_ROW, BulkInsert, JsonTable
from runtime.models import Lease

pytestmark = pytest.mark.django_db

NUMBER = {SHARED_ROW: models.IntegerField()}
OWN_COLUMNS = JsonTable(name=models.TextField(), **NUMBER)
SHARED_COLUMNS = JsonTable(holder=models.TextField(), done_for=models.DateField(), **NUMBER)
DAY = date(2026, 11, 24)


def test_each_row_gets_its_shared_values() -> None:
    BulkInsert(
        Lease._meta.db_table,
        OWN_COLUMNS,
        [("backup", 1), ("digest", 0), ("cleanup", 1)],
        shared_columns=SHARED_COLUMNS,
        shared_rows=[("first", None, 0), ('the "second"', DAY, 1)],
    ).run()
    assert list(Lease.objects.order_by("name").values_list("name", "holder", "done_for")) == [
        ("backup", 'the "second"', DAY),
        ("cleanup", 'the "second"', DAY),
        ("digest", "first", None),
    ]


def test_shared_values_that_no_row_uses_are_not_inserted() -> None:
    BulkInsert(
        Lease._meta.db_table,
        OWN_COLUMNS,
        [("backup", 1)],
        shared_columns=SHARED_COLUMNS,
        shared_rows=[("first", None, 0), ("second", None, 1)],
    ).run()
    assert list(Lease.objects.values_list("name", "holder")) == [("backup", "second")]
