import pytest
from psycopg_pool import PoolTimeout

from runtime.database.postgresql.base import acquire_page_slot
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
