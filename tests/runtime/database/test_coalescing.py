"""What many ask for at once is done once, and the trouble of one is not that of the others."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from runtime.cache.redis import RedisCounters
from runtime.database.coalescing import MAX_GROUP_SIZE, Coalescer
from tests.servers.gevent_process import run_patched
from tests.servers.redis import redis_server


class Ended(BaseException):
    """As a greenlet is ended."""


def at_once(asked: list[int]) -> list[int]:
    return asked


class Work:
    """The first turn lasts until it is let go: whoever comes meanwhile waits."""

    def __init__(self) -> None:
        self.turns: list[list[int]] = []
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.error: BaseException | None = None

    def __call__(self, asked: list[int]) -> list[int]:
        self.turns.append(asked)
        if len(self.turns) == 1:
            self.begun.set()
            assert self.may_end.wait(10)
            if self.error:
                raise self.error
        return [10 * one for one in asked]


@contextmanager
def asked_at_once(
    together: Coalescer[int, int], work: Work, numbers: range
) -> Iterator[list[Future[int]]]:
    """The first is at work, and all others wait for it."""
    with ThreadPoolExecutor(len(numbers)) as pool:
        try:
            futures = [pool.submit(together.ask, numbers[0])]
            assert work.begun.wait(10)
            futures += [pool.submit(together.ask, number) for number in numbers[1:]]
            until(lambda: len(together._waiting) == len(numbers) - 1)
            yield futures
        finally:
            work.may_end.set()


def until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < ends_at
        time.sleep(0.005)


def test_those_who_wait_share_the_next_turns() -> None:
    together = Coalescer(work := Work())
    numbers = range(2 * MAX_GROUP_SIZE + 10)
    with asked_at_once(together, work, numbers) as futures:
        work.may_end.set()
        assert [future.result(10) for future in futures] == [10 * number for number in numbers]
    assert [len(turn) for turn in work.turns] == [1, MAX_GROUP_SIZE, MAX_GROUP_SIZE, 9]
    assert together.ask(5) == 50


def test_what_the_work_raises_is_everybodys_who_waits_and_nobodys_after() -> None:
    together = Coalescer(work := Work())
    work.error = ValueError("broken")
    with asked_at_once(together, work, range(5)) as futures:
        work.may_end.set()
        assert {type(future.exception(10)) for future in futures} == {ValueError}
    assert work.turns == [[0]]
    assert together.ask(5) == 50


def test_when_the_one_who_works_is_ended_those_who_wait_are_served() -> None:
    together = Coalescer(work := Work())
    work.error = Ended()
    with asked_at_once(together, work, range(5)) as futures:
        work.may_end.set()
        assert isinstance(futures[0].exception(10), Ended)
        assert [future.result(10) for future in futures[1:]] == [10, 20, 30, 40]


def test_who_is_ended_while_others_are_let_come_stops_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    together = Coalescer(Work())
    together._work.may_end.set()  # type: ignore[attr-defined]

    def end() -> None:
        raise Ended

    with monkeypatch.context() as patched:
        patched.setattr("runtime.database.coalescing.yield_to_others", end)
        with pytest.raises(Ended):
            together.ask(1)
    assert together.ask(5) == 50


def test_a_shared_error_does_not_grow_with_those_who_share_it() -> None:
    together = Coalescer(work := Work())
    work.error = ValueError("broken")
    with asked_at_once(together, work, range(30)) as futures:
        work.may_end.set()
        error: Any = futures[-1].exception(10)
    places, place = 0, error.__traceback__
    while place:
        places, place = places + 1, place.tb_next
    assert places < 10


def test_a_kind_of_work_that_takes_long_holds_up_no_other() -> None:
    together = Coalescer(work := Work())
    with asked_at_once(together, work, range(1)) as futures:
        started = time.monotonic()
        assert Coalescer(at_once).ask(1) == 1
        assert time.monotonic() - started < 1
        work.may_end.set()
        assert futures[0].result(10) == 0


def test_looking_after_a_silent_redis_takes_nobodys_turn() -> None:
    with redis_server() as server:
        options = {"socket_timeout": 3.0}
        counters = RedisCounters(server.url, {"OPTIONS": options})
        assert counters.is_well()
        psutil.Process(server.pid).suspend()
        try:
            with ThreadPoolExecutor(1) as pool:
                probe = pool.submit(counters.is_well)
                time.sleep(0.2)
                started = time.monotonic()
                assert Coalescer(at_once).ask(1) == 1
                took = time.monotonic() - started
                assert not probe.done()
                psutil.Process(server.pid).resume()
                assert probe.result(10)
        finally:
            psutil.Process(server.pid).resume()
    assert took < 0.05


def test_a_greenlet_that_is_ended_while_it_waits_stops_nobody(tmp_path: Path) -> None:
    said = run_patched("tests.runtime.database.gevent_coalescing", tmp_path)
    assert said == "[0, 'ended', 4, 6] [[0], [2, 3]]\n"
