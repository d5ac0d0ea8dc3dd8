import pytest
from psycopg_pool import PoolTimeout

from runtime.database.postgresql.base import take_page_place
from runtime.database.timeouts import database_seconds


@pytest.mark.parametrize(("connections", "for_pages"), [(1, 1), (2, 1), (4, 3), (16, 12)])
def test_pages_leave_connections_to_the_api(connections: int, for_pages: int) -> None:
    before = database_seconds.set(0.01)
    places = [take_page_place(connections) for _ in range(for_pages)]
    try:
        with pytest.raises(PoolTimeout):
            take_page_place(connections)
    finally:
        for place in places:
            place.release()
        database_seconds.reset(before)
