from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection

from runtime.database.account_slots import AccountBusy, find_slots
from runtime.database.postgresql.base import DatabaseWrapper, TimeoutConnection
from runtime.database.timeouts import query_timeout


@pytest.fixture
def pooled(db: None) -> Iterator[list[DatabaseWrapper]]:
    """Return three requests' connections, of one pool."""
    settings = connection.settings_dict
    pool = {"connection_class": TimeoutConnection, "min_size": 1, "max_size": 3}
    pooled_settings: dict[str, Any] = {
        **settings,
        "OPTIONS": {**settings["OPTIONS"], "pool": pool},
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": False,
    }
    wrappers = [DatabaseWrapper(pooled_settings, "pooled") for _ in range(3)]
    yield wrappers
    for wrapper in wrappers:
        wrapper.close()
    wrappers[0].close_pool()


@pytest.mark.parametrize(("connections", "for_account"), [(1, 1), (3, 1), (8, 2), (16, 4)])
def test_account_has_a_quarter_of_the_connections(connections: int, for_account: int) -> None:
    slots = find_slots(-connections, connections)
    taken = [slots.acquire(blocking=False) for _ in range(for_account + 1)]
    assert taken == [True] * for_account + [False]
    assert find_slots(-connections, connections) is slots


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only")
def test_busy_account_holds_no_connection_and_leaves_the_others_to_other_accounts(
    pooled: list[DatabaseWrapper],
) -> None:
    first, second, other = pooled
    first.connect_for_account(1)
    # It has one already, which it returns before it waits.
    second.ensure_connection()
    with pytest.raises(AccountBusy):
        second.connect_for_account(1)
    assert second.connection is None
    other.connect_for_account(2)
    first.close()
    second.connect_for_account(1)
    assert second.connection is not None


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only")
def test_request_that_gets_no_connection_returns_its_slot(pooled: list[DatabaseWrapper]) -> None:
    wrapper = pooled[0]
    wrapper.ensure_connection()
    held = [wrapper.pool.getconn() for _ in range(2)]
    token = query_timeout.set(0.01)
    try:
        with pytest.raises(OperationalError):
            pooled[1].connect_for_account(1)
    finally:
        query_timeout.reset(token)
        for free in held:
            wrapper.pool.putconn(free)
    pooled[1].connect_for_account(1)
    assert pooled[1].connection is not None
