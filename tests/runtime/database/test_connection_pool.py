from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from psycopg_pool import PoolTimeout

from runtime.database.postgresql.base import (
    DatabaseWrapper,
    TimeoutConnection,
    acquire_page_slot,
)
from runtime.database.timeouts import query_timeout


@pytest.mark.parametrize(("connections", "for_pages"), [(1, 1), (2, 1), (4, 3), (16, 12)])
def test_pages_leave_connections_to_the_api(connections: int, for_pages: int) -> None:
    token = query_timeout.set(0.01)
    slots = [acquire_page_slot(connections) for _ in range(for_pages)]
    try:
        with pytest.raises(PoolTimeout):
            acquire_page_slot(connections)
    finally:
        for slot in slots:
            slot.release()
        query_timeout.reset(token)


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


def server_process(wrapper: DatabaseWrapper) -> int:
    wrapper.ensure_connection()
    return int(wrapper.connection.info.backend_pid)


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only")
def test_connection_that_was_returned_last_is_used_next(pooled: list[DatabaseWrapper]) -> None:
    processes = [server_process(wrapper) for wrapper in pooled]
    assert len(set(processes)) == 3
    for wrapper in pooled:
        wrapper.close()
    for _ in range(3):
        assert server_process(pooled[0]) == processes[-1]
        pooled[0].close()
