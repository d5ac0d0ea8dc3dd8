"""A heartbeat keeps the lease of a row whose work takes longer than the lease."""

from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.services import open_account
from lists.models import ListChunk
from runtime.database.leased_rows import Heartbeat
from tests.conftest import make_user
from tests.lists.factory import make_list
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.anywhere, pytest.mark.usefixtures("fresh_database")]


@pytest.fixture
def chunk(fresh_database: None, monkeypatch: pytest.MonkeyPatch) -> ListChunk:
    monkeypatch.setattr(ListChunk, "LEASE", timedelta(seconds=1.5))
    account = open_account(user=make_user("owner@shop.example"), name="The Shop")
    make_list(account, ["jane@shop.example"])
    claimed = ListChunk.objects.claim()
    assert claimed is not None
    return claimed


def stored_lease() -> datetime:
    lease = ListChunk.objects.get().leased_until
    assert lease is not None
    return lease


def test_slow_work_keeps_its_lease(chunk: ListChunk) -> None:
    first = stored_lease()
    with Heartbeat(chunk) as heartbeat:
        wait_until(lambda: timezone.now() > first and stored_lease() > first)
        with heartbeat.paused(), transaction.atomic():
            assert chunk.lock_if_held()
    assert not heartbeat.is_lost
    assert chunk.release(is_done=True)


def test_heartbeat_ends_with_the_work(chunk: ListChunk) -> None:
    with Heartbeat(chunk):
        pass
    lease = stored_lease()
    wait_until(lambda: timezone.now() > lease)
    assert stored_lease() == lease
    assert ListChunk.objects.claim() is not None


def test_work_learns_that_its_lease_was_lost(chunk: ListChunk) -> None:
    with Heartbeat(chunk) as heartbeat:
        ListChunk.objects.update(leased_until=None)
        wait_until(lambda: heartbeat.is_lost)
    assert ListChunk.objects.get().leased_until is None
    assert not chunk.release(is_done=True)
