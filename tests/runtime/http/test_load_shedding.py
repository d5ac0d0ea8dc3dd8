"""How many requests of the API a web worker takes on at the same moment."""

from concurrent.futures import ThreadPoolExecutor

from runtime.http.load_shedding import ConcurrencyLimit


def enter_elsewhere(admission: ConcurrencyLimit) -> bool:
    """As another request does: each has a thread or greenlet of its own."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(admission.enter).result()


def test_who_comes_when_every_place_is_taken_is_turned_away() -> None:
    admission = ConcurrencyLimit(most=2)
    assert [enter_elsewhere(admission) for _ in range(3)] == [True, True, False]
    assert admission.in_hand == 2


def test_a_place_that_was_left_is_free_again() -> None:
    admission = ConcurrencyLimit(most=1)
    assert admission.enter()
    admission.leave()
    assert enter_elsewhere(admission)


def test_a_place_is_left_once() -> None:
    admission = ConcurrencyLimit(most=2)
    assert enter_elsewhere(admission)
    assert admission.enter()
    # Before it waited for a name server, and when it was answered.
    admission.leave()
    admission.leave()
    assert admission.in_hand == 1


def test_who_was_turned_away_leaves_no_place() -> None:
    admission = ConcurrencyLimit(most=1)
    assert enter_elsewhere(admission)
    assert not admission.enter()
    admission.leave()
    assert admission.in_hand == 1
