"""On PostgreSQL, authentication reads only the account of its key."""

import pytest
from django.db import connection

from accounts.models import Account
from apikeys.models.lookup import KeyLookup

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only"),
]

SCANS = "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'accounts_account'"


def full_scans() -> int:
    with connection.cursor() as cursor:
        cursor.execute(SCANS)
        return int(cursor.fetchone()[0])


@pytest.mark.usefixtures("key")
def test_lookup_scans_no_accounts(secret: str) -> None:
    Account.objects.bulk_create(Account(name=f"Shop {n}") for n in range(800))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_account")
    lookup = KeyLookup()
    before = full_scans()
    found = lookup.find(secret)
    assert found is not None
    assert full_scans() == before
