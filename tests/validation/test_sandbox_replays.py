"""The limit on stored sandbox replays, which are free, per account."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import Account, User
from accounts.services import change_log_days
from tests.support.api_client import ApiClient
from validation.ids import new_result_id
from validation.models import MAX_SANDBOX_REPLAYS, Replay, StoredResult

pytestmark = pytest.mark.django_db

SANDBOX, DEFINITE = "risky@sandbox.test", "no address"


def fill(account: Account, *, sandbox: int, paid: int = 0) -> None:
    """Store replays one second apart, the oldest first."""
    started_at = timezone.now() - timedelta(hours=2)
    Replay.objects.bulk_create(
        Replay(
            account=account,
            key_digest=UUID(int=number),
            request_digest=UUID(int=0),
            result_id=new_result_id(),
            is_free=number < sandbox,
            created_at=started_at + timedelta(seconds=number),
        )
        for number in range(sandbox + paid)
    )


def stored(account: Account, *, sandbox: bool = True) -> list[UUID]:
    rows = Replay.objects.filter(account=account, is_free=sandbox).order_by("created_at")
    return list(rows.values_list("key_digest", flat=True))


@pytest.mark.parametrize(("more", "oldest"), [(-1, 0), (0, 1), (7, 8)])
def test_oldest_sandbox_replays_are_deleted_above_the_limit(
    caller: ApiClient, account: Account, more: int, oldest: int
) -> None:
    fill(account, sandbox=MAX_SANDBOX_REPLAYS + more)
    first = caller.validate(SANDBOX, Idempotency_Key="new")
    digests = stored(account)
    assert (len(digests), digests[0]) == (MAX_SANDBOX_REPLAYS, UUID(int=oldest))
    again = caller.validate(SANDBOX, Idempotency_Key="new")
    assert (again.content, again.headers["Idempotent-Replayed"]) == (first.content, "true")


def test_responses_above_the_limit_are_deleted_if_the_account_stores_nothing(
    caller: ApiClient, account: Account, owner: User
) -> None:
    change_log_days(account=account, days=0, actor=owner)
    fill(account, sandbox=MAX_SANDBOX_REPLAYS)
    StoredResult.objects.bulk_create(
        StoredResult(result_id=result_id, account=account, packed="")
        for result_id in Replay.objects.values_list("result_id", flat=True)
    )
    caller.validate(SANDBOX, Idempotency_Key="new")
    assert StoredResult.objects.count() == MAX_SANDBOX_REPLAYS


def test_paid_replays_are_not_limited(caller: ApiClient, account: Account) -> None:
    fill(account, sandbox=MAX_SANDBOX_REPLAYS, paid=5)
    caller.validate(DEFINITE, Idempotency_Key="new")
    assert len(stored(account)) == MAX_SANDBOX_REPLAYS
    caller.validate(SANDBOX, Idempotency_Key="newer")
    assert len(stored(account, sandbox=False)) == 6


def test_replays_of_another_account_stay(other_caller: ApiClient, account: Account) -> None:
    fill(account, sandbox=MAX_SANDBOX_REPLAYS)
    assert other_caller.validate(SANDBOX, Idempotency_Key="new").status_code == 200
    assert len(stored(account)) == MAX_SANDBOX_REPLAYS
