"""A definite verdict costs one credit. Charge and record are one transaction."""

from typing import Any

import pytest
from django.db import connection

from accounts.models import Account
from apikeys.models import ApiKey
from apikeys.models.lookup import KeyLookup
from credits.models import UseHour, Wallet
from credits.wallet.books import find_discrepancies
from credits.wallet.charges import Charge, InsufficientCredits, charge_account, charge_and_insert
from tests.support.api_client import ApiClient, error_code
from validation.models import LogEntry, Replay
from validation.services import validate
from validation.validations import Caller

pytestmark = pytest.mark.django_db

DEFINITE, UNKNOWN, SANDBOX = "no address", "jane@ordinary-shop.com", "risky@sandbox.test"


def set_balance(account: Account, balance: int) -> None:
    """Charge the account down to a balance, so that the books still agree."""
    current = Wallet.objects.get(account=account).balance
    for _ in range(current - balance):
        charge_account(Charge(account=account, key=None, verdict="risky", cost=1, duration_ms=1))


def credit_headers(response: Any) -> tuple[str, str]:
    return response.headers["X-Credits-Cost"], response.headers["X-Credits-Remaining"]


@pytest.mark.anywhere
@pytest.mark.parametrize(
    ("email", "cost"), [(DEFINITE, 1), ("jane@example.com", 1), (UNKNOWN, 0), (SANDBOX, 0)]
)
def test_response_states_its_cost_and_the_balance_left(
    caller: ApiClient, account: Account, email: str, cost: int
) -> None:
    response = caller.validate(email)
    assert credit_headers(response) == (str(cost), str(100 - cost))
    assert response.json()["credits"] == {"charged": cost, "held": 0, "remaining": 100 - cost}
    assert Wallet.objects.get(account=account).balance == 100 - cost
    assert not list(find_discrepancies())


@pytest.mark.anywhere
def test_refused_request_costs_nothing(caller: ApiClient, account: Account) -> None:
    for body in (b"{", b"{}", b'{"email": 5}', b'{"email": "a@b.co", "x": 1}'):
        assert "X-Credits-Cost" not in caller.send(body).headers
    assert Wallet.objects.get(account=account).balance == 100
    assert not UseHour.objects.exists()


def test_without_credits_a_request_is_402_before_any_work(
    caller: ApiClient, account: Account
) -> None:
    set_balance(account, 0)
    response = caller.validate(DEFINITE)
    assert (response.status_code, error_code(response)) == (402, "insufficient_credits")
    details = response.json()["error"]["details"]
    assert (details["required"], details["balance"]) == (1, 0)
    assert error_code(caller.send(b"no json")) == "invalid_json"
    assert Wallet.objects.get(account=account).balance == 0


@pytest.mark.parametrize("email", [SANDBOX, "insufficient_credits+x@shop.example"])
def test_only_sandbox_addresses_work_at_balance_0(
    caller: ApiClient, account: Account, email: str
) -> None:
    set_balance(account, 0)
    expected = 200 if email == SANDBOX else 402
    assert caller.validate(email).status_code == expected


def test_replay_works_at_balance_0_and_costs_nothing(caller: ApiClient, account: Account) -> None:
    first = caller.validate(DEFINITE, Idempotency_Key="order-1")
    set_balance(account, 0)
    again = caller.validate(DEFINITE, Idempotency_Key="order-1")
    assert again.content == first.content
    assert credit_headers(again) == ("0", "0")
    assert caller.validate(DEFINITE, Idempotency_Key="order-2").status_code == 402


def test_request_that_loses_the_race_for_the_last_credit_is_402_and_records_nothing(
    account: Account, key: ApiKey
) -> None:
    """Another request takes the last credit after this one has read the balance with the key."""
    late_caller = Caller(account, key, "req_late")
    assert account.wallet.balance == 100
    set_balance(account, 0)
    with pytest.raises(InsufficientCredits) as refused:
        validate(caller=late_caller, email=DEFINITE, idempotency_key="late")
    assert refused.value.details["balance"] == 0
    assert not Replay.objects.exists()
    assert not LogEntry.objects.exists()
    assert not list(find_discrepancies())


def test_usage_is_recorded_by_key_hour_and_verdict(
    caller: ApiClient, account: Account, key: ApiKey
) -> None:
    for email in (DEFINITE, DEFINITE, UNKNOWN, SANDBOX):
        caller.validate(email)
    rows = UseHour.objects.order_by("verdict")
    counts = [(row.verdict, row.calls, row.credits) for row in rows]
    assert counts == [("undeliverable", 2, 2), ("unknown", 1, 0)]
    for row in rows:
        assert (row.account, row.key) == (account, key)
        assert (row.hour.minute, row.hour.second) == (0, 0)
        buckets = (row.up_to_20_ms, row.up_to_50_ms, row.up_to_100_ms, row.up_to_250_ms)
        assert sum(buckets) + row.up_to_1000_ms + row.slower == row.calls


@pytest.mark.anywhere
def test_duration_is_counted_in_one_of_six_buckets(account: Account) -> None:
    for milliseconds, bucket in (
        *((0, "up_to_20_ms"), (20, "up_to_20_ms"), (21, "up_to_50_ms"), (100, "up_to_100_ms")),
        *((250, "up_to_250_ms"), (1000, "up_to_1000_ms"), (1001, "slower")),
    ):
        UseHour.objects.all().delete()
        charge_account(Charge(account, None, "risky", cost=1, duration_ms=milliseconds))
        row = UseHour.objects.get()
        assert (getattr(row, bucket), row.duration_ms) == (1, milliseconds)


@pytest.mark.parametrize("has_key", [True, False])
def test_usage_of_lists_is_a_part_of_the_usage_of_their_key_or_the_dashboard(
    account: Account, key: ApiKey, has_key: bool
) -> None:
    user = key if has_key else None
    charge_account(Charge(account, user, "risky", 1, 5))
    charge_account(Charge(account, user, "risky", 3, None, validations=4, for_list=True))
    row = UseHour.objects.get()
    assert (row.key, row.calls, row.credits) == (user, 5, 4)
    assert (row.list_calls, row.list_credits, row.up_to_20_ms) == (4, 3, 1)


def test_every_response_to_a_key_is_in_the_request_log(
    caller: ApiClient, account: Account, key: ApiKey
) -> None:
    response = caller.validate("Jane.Doe@Shop.Example", X_Request_Id="request-0001")
    caller.send(b"{")
    caller.get("/v1/nothing")
    ApiClient().validate(DEFINITE)
    first, second, third = LogEntry.objects.order_by("pk")
    result = response.json()
    assert (first.account, first.key, first.request_id) == (account, key, "request-0001")
    assert (first.status, first.cost, first.result_id) == (200, 1, result["id"])
    assert (first.verdict, first.reason, first.score) == ("undeliverable", "reserved_domain", 0)
    assert (first.address, first.domain) == ("J***@shop.example", "shop.example")
    assert (second.status, second.refusal, second.path) == (400, "invalid_json", "/v1/validate")
    assert (third.status, third.refusal, third.path) == (404, "not_found", "/v1/nothing")


def test_charged_request_takes_few_queries(
    caller: ApiClient, django_assert_num_queries: Any
) -> None:
    """One query reads the key, account, and balance. PostgreSQL then writes in one statement,
    SQLite in four. The test's own transaction adds a savepoint, which is two queries.
    """
    caller.validate(DEFINITE)
    with django_assert_num_queries(1 + (1 if connection.vendor == "postgresql" else 4) + 2):
        caller.validate(DEFINITE)


# A call reads only the account and wallet of its key, however many there are.
ON_POSTGRESQL = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only")
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


@ON_POSTGRESQL
@pytest.mark.usefixtures("key", "many_accounts")
def test_charges_scan_no_wallets(account: Account, key: ApiKey) -> None:
    charge = Charge(account, key, "deliverable", cost=1, duration_ms=1)
    before = full_scans("credits_wallet")
    assert charge_and_insert([charge], skip_locked=True) == [99]
    assert charge_and_insert([charge] * 20, skip_locked=False)[-1] == 79
    assert charge_account(charge) == 78
    assert full_scans("credits_wallet") == before


@ON_POSTGRESQL
@pytest.mark.usefixtures("key", "many_accounts")
def test_lookup_scans_no_accounts(secret: str) -> None:
    before = full_scans("accounts_account")
    assert KeyLookup().find(secret) is not None
    assert full_scans("accounts_account") == before
