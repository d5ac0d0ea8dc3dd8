"""Concurrent calls are served in groups, and a killed caller doesn't affect the others."""

import threading
import time
from collections.abc import Iterator
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
from tests.support.waiting import wait_until


class Killed(BaseException):
    """Simulate gevent.GreenletExit."""


def echo(numbers: list[int]) -> list[int]:
    return numbers


class Work:
    """Work whose first group runs until the test allows it to finish."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.started, self.may_finish = threading.Event(), threading.Event()
        self.error: BaseException | None = None

    def __call__(self, numbers: list[int]) -> list[int]:
        self.groups.append(numbers)
        if len(self.groups) == 1:
            self.started.set()
            assert self.may_finish.wait(60)
            if self.error:
                raise self.error
        return [10 * number for number in numbers]


@contextmanager
def submitted(
    coalescer: Coalescer[int, int], work: Work, numbers: range
) -> Iterator[list[Future[int]]]:
    """Submit all numbers: the first one's group runs, and all others wait."""
    with ThreadPoolExecutor(len(numbers)) as pool:
        try:
            futures = [pool.submit(coalescer.submit, numbers[0])]
            assert work.started.wait(60)
            futures += [pool.submit(coalescer.submit, number) for number in numbers[1:]]
            wait_until(lambda: len(coalescer._waiting) == len(numbers) - 1)
            yield futures
        finally:
            work.may_finish.set()


def test_waiting_callers_share_the_next_groups() -> None:
    coalescer = Coalescer(work := Work())
    numbers = range(2 * MAX_GROUP_SIZE + 10)
    with submitted(coalescer, work, numbers) as futures:
        work.may_finish.set()
        assert [future.result(60) for future in futures] == [10 * number for number in numbers]
    assert [len(group) for group in work.groups] == [1, MAX_GROUP_SIZE, MAX_GROUP_SIZE, 9]
    assert coalescer.submit(5) == 50


def test_error_of_the_work_is_raised_in_all_waiting_callers_but_not_in_later_ones() -> None:
    coalescer = Coalescer(work := Work())
    work.error = ValueError("broken")
    with submitted(coalescer, work, range(5)) as futures:
        work.may_finish.set()
        assert {type(future.exception(60)) for future in futures} == {ValueError}
    assert work.groups == [[0]]
    assert coalescer.submit(5) == 50


def test_callers_that_wait_are_served_when_the_leader_is_killed() -> None:
    coalescer = Coalescer(work := Work())
    work.error = Killed()
    with submitted(coalescer, work, range(5)) as futures:
        work.may_finish.set()
        assert isinstance(futures[0].exception(60), Killed)
        assert [future.result(60) for future in futures[1:]] == [10, 20, 30, 40]


def test_leader_killed_before_its_work_starts_does_not_block_later_callers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    coalescer = Coalescer(Work())
    coalescer._work.may_finish.set()  # type: ignore[attr-defined]

    def kill() -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("runtime.database.coalescing.yield_to_others", kill)
        with pytest.raises(Killed):
            coalescer.submit(1)
    assert coalescer.submit(5) == 50


def test_traceback_of_a_shared_error_does_not_grow_with_each_caller() -> None:
    coalescer = Coalescer(work := Work())
    work.error = ValueError("broken")
    with submitted(coalescer, work, range(30)) as futures:
        work.may_finish.set()
        error: Any = futures[-1].exception(60)
    length, frame = 0, error.__traceback__
    while frame:
        length, frame = length + 1, frame.tb_next
    assert length < 10


def test_health_check_of_a_silent_redis_does_not_delay_coalesced_work() -> None:
    with redis_server() as server:
        counters = RedisCounters(server.url, {"OPTIONS": {"timeout": 30.0}})
        assert counters.is_healthy()
        psutil.Process(server.pid).suspend()
        try:
            with ThreadPoolExecutor(1) as pool:
                probe = pool.submit(counters.is_healthy)
                time.sleep(0.2)
                assert Coalescer(echo).submit(1) == 1
                assert not probe.done()
                psutil.Process(server.pid).resume()
                assert probe.result(60)
        finally:
            psutil.Process(server.pid).resume()


def test_killed_greenlet_that_waited_does_not_block_the_others(tmp_path: Path) -> None:
    output = run_patched("tests.runtime.database.gevent_coalescing", tmp_path)
    assert output == "[0, 'killed', 4, 6] [[0], [2, 3]]\n"
