"""A reader misses no event whose transaction is committed late: SQLite has one writer at a time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event as Signal

import pytest
from django.db import connection, connections, transaction

from accounts.models import Account, Event
from accounts.services import open_account
from accounts.webhooks.fan_out import number_events
from apikeys.services import create_key
from tests.accounts.webhooks.factory import record
from tests.conftest import make_user
from tests.support.api_client import ApiClient

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL only")

WAIT_SECONDS = 60


@pytest.fixture
def shop(fresh_database: None) -> Account:
    return open_account(user=make_user("owner@shop.example"), name="The Shop")


@contextmanager
def uncommitted_event(account: Account) -> Iterator[Event]:
    """Record an event in another thread's transaction, which commits at the end of the block."""
    recorded, may_commit = Signal(), Signal()
    events: list[Event] = []

    def record_and_wait() -> None:
        try:
            with transaction.atomic():
                events.append(record(account))
                recorded.set()
                assert may_commit.wait(WAIT_SECONDS)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        thread = pool.submit(record_and_wait)
        assert recorded.wait(WAIT_SECONDS)
        try:
            yield events[0]
        finally:
            may_commit.set()
        thread.result()


def test_reader_misses_no_event_that_is_committed_late(shop: Account) -> None:
    secret = create_key(account=shop, name="Server", actor=shop.memberships.get().user)[1]
    caller = ApiClient(secret)
    while number_events():
        pass

    def read(after: str) -> list[str]:
        data = caller.get(f"/v1/events?after={after}").json()["data"]
        return [event["id"] for event in data]

    start = record(shop)
    number_events()
    with uncommitted_event(shop) as late:
        early = record(shop)
        assert late.pk < early.pk
        assert number_events() == 1
        assert read(start.public_id) == [early.public_id]
    # The reader continues after the event that it has seen, whose id is larger.
    assert number_events() == 1
    assert read(early.public_id) == [late.public_id]
    assert read(start.public_id) == [early.public_id, late.public_id]
