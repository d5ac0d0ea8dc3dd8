"""What many ask for at the same moment is done once for all of them."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from accounts.together import MOST_AT_ONCE, Together
from tests.servers.patched import run_patched


class Work:
    """Doubles numbers; its first turn lasts until it is told to go on."""

    def __init__(self) -> None:
        self.turns: list[list[int]] = []
        self.has_begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self, numbers: list[int]) -> Sequence[int]:
        self.turns.append(numbers)
        self.has_begun.set()
        assert self.may_end.wait(20)
        return [2 * number for number in numbers]


def ask_behind_the_first(
    pool: ThreadPoolExecutor, together: Together[int, int], has_begun: threading.Event, many: int
) -> list["Future[int]"]:
    """One begins; the others come while it is served."""
    asked = [pool.submit(together.ask, 0)]
    assert has_begun.wait(20)
    asked += [pool.submit(together.ask, number) for number in range(1, many)]
    wait_until(lambda: len(together._waiting) == many - 1)
    return asked


def wait_until(holds: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < ends_at
        time.sleep(0.001)


def test_who_comes_alone_is_served_at_once() -> None:
    assert Together(lambda asked: [one.upper() for one in asked]).ask("jane") == "JANE"


def test_those_who_come_while_the_work_is_done_are_served_by_one_turn() -> None:
    work = Work()
    together = Together(work)
    with ThreadPoolExecutor(12) as pool:
        asked = ask_behind_the_first(pool, together, work.has_begun, 12)
        work.may_end.set()
        assert [one.result(20) for one in asked] == [2 * number for number in range(12)]
    assert [sorted(turn) for turn in work.turns] == [[0], list(range(1, 12))]


def test_a_turn_has_only_so_many() -> None:
    work = Work()
    together = Together(work)
    many = MOST_AT_ONCE + 10
    with ThreadPoolExecutor(many) as pool:
        asked = ask_behind_the_first(pool, together, work.has_begun, many)
        work.may_end.set()
        assert [one.result(20) for one in asked] == [2 * number for number in range(many)]
    assert [len(turn) for turn in work.turns] == [1, MOST_AT_ONCE, 9]


def test_what_the_work_raises_is_everybodys_who_waits_and_nobodys_who_comes_later() -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def work(numbers: list[int]) -> list[int]:
        has_begun.set()
        assert may_end.wait(20)
        if 0 in numbers:
            raise ConnectionError("away")
        return numbers

    together = Together(work)
    with ThreadPoolExecutor(5) as pool:
        asked = ask_behind_the_first(pool, together, has_begun, 5)
        may_end.set()
        assert [str(one.exception(20)) for one in asked] == ["away"] * 5
    assert together.ask(7) == 7


def test_one_kind_of_work_is_done_at_a_time_unless_it_may_wait() -> None:
    slow = Work()
    quick: Together[int, int] = Together(lambda numbers: numbers)
    patient: Together[int, int] = Together(lambda numbers: numbers, may_wait=True)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(Together(slow).ask, 1)
        assert slow.has_begun.wait(20)
        second = pool.submit(quick.ask, 2)
        assert patient.ask(3) == 3
        with pytest.raises(TimeoutError):
            second.result(0.1)
        slow.may_end.set()
        assert (first.result(20), second.result(20)) == (2, 2)


def test_a_greenlet_that_is_ended_while_it_waits_stops_nobody(tmp_path: Path) -> None:
    said = run_patched("tests.accounts.gevent_together", tmp_path)
    assert said == "[0, 'ended', 4, 6] [[0], [2, 3]]\n"
