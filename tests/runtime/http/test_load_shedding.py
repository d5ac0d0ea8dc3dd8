"""A web worker admits a limited number of concurrent API requests."""

from concurrent.futures import ThreadPoolExecutor

from runtime.http.load_shedding import ConcurrencyLimit


def enter_in_another_thread(limit: ConcurrencyLimit) -> bool:
    """Enter as another request does: each has its own thread or greenlet."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(limit.enter).result()


def test_request_above_the_limit_is_refused_and_frees_no_slot() -> None:
    limit = ConcurrencyLimit(limit=2)
    assert [enter_in_another_thread(limit) for _ in range(3)] == [True, True, False]
    assert not limit.enter()
    limit.leave()
    assert limit.in_progress == 2


def test_slot_is_freed_only_once() -> None:
    limit = ConcurrencyLimit(limit=2)
    assert enter_in_another_thread(limit)
    assert limit.enter()
    # A request leaves before it waits for a name server, and again when it is done.
    limit.leave()
    limit.leave()
    assert limit.in_progress == 1
    assert [enter_in_another_thread(limit) for _ in range(2)] == [True, False]
