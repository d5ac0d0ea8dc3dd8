"""A caller waits in a queue that moves, and is told to come back by one that stands still."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError

from credits.queueing import Queue


def wait_for_a_turn(queue: Queue, seconds: float) -> None:
    with queue.turn():
        time.sleep(seconds)


def test_who_waits_in_a_queue_that_moves_is_served() -> None:
    queue = Queue(standstill_seconds=0.5)
    with ThreadPoolExecutor(12) as pool:
        turns = [pool.submit(wait_for_a_turn, queue, 0.1) for _ in range(12)]
    assert [turn.exception() for turn in turns] == [None] * 12


def test_who_waits_in_a_queue_that_stands_still_is_told_to_come_back() -> None:
    queue = Queue(standstill_seconds=0.2)
    with ThreadPoolExecutor(1) as pool, queue.turn():
        turn = pool.submit(wait_for_a_turn, queue, 0)
        assert isinstance(turn.exception(timeout=20), OperationalError)
    wait_for_a_turn(queue, 0)


def test_a_turn_that_the_database_failed_is_no_movement() -> None:
    queue = Queue(standstill_seconds=0.5)
    with pytest.raises(OperationalError), queue.turn():
        raise OperationalError
    assert queue.moved_at == 0
    wait_for_a_turn(queue, 0)
    assert queue.moved_at > 0
