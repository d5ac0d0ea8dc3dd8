"""On PostgreSQL, a call reads only the account and wallet of its key, however many there are."""

import pytest
from django.db import connection

from accounts.models import Account
from apikeys.models import ApiKey
from apikeys.models.lookup import KeyLookup
from credits.models import Wallet
from credits.wallet.charges import Charge, charge_account, charge_and_insert

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("key", "many_accounts"),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only"),
]

SCANS = "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = %s"


@pytest.fixture
def many_accounts() -> None:
    accounts = Account.objects.bulk_create(Account(name=f"Shop {n}") for n in range(2_000))
    Wallet.objects.bulk_create(Wallet(account=account) for account in accounts)
    with connection.cursor() as cursor:
        # As autovacuum does. Prepared statements are then planned again.
        cursor.execute("ANALYZE accounts_account, credits_wallet")


def full_scans(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(SCANS, [table])
        return int(cursor.fetchone()[0])


def test_charges_scan_no_wallets(account: Account, key: ApiKey) -> None:
    charge = Charge(account, key, "deliverable", cost=1, duration_ms=1)
    before = full_scans("credits_wallet")
    assert charge_and_insert([charge], skip_locked=True) == [99]
    assert charge_and_insert([charge] * 20, skip_locked=False)[-1] == 79
    assert charge_account(charge) == 78
    assert full_scans("credits_wallet") == before


def test_lookup_scans_no_accounts(secret: str) -> None:
    before = full_scans("accounts_account")
    assert KeyLookup().find(secret) is not None
    assert full_scans("accounts_account") == before
