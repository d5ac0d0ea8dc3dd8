"""A web worker lets short requests go before those that compute for long."""

import threading

import gevent
import pytest

from config.server.worker import _drain_events, _yield_to_greenlets
from runtime.http import fairness


def test_long_request_pauses_until_the_others_wait() -> None:
    steps: list[int] = []

    def other_request() -> None:
        for step in range(3):
            gevent.sleep(0)
            steps.append(step)

    gevent.spawn(other_request)
    _drain_events()
    assert steps == [0, 1, 2]


def test_group_that_waits_for_more_callers_goes_first() -> None:
    order: list[str] = []

    def wait(pause: str) -> None:
        {"long request": _drain_events, "group": _yield_to_greenlets}[pause]()
        order.append(pause)

    gevent.joinall([gevent.spawn(wait, "group"), gevent.spawn(wait, "long request")])
    assert order == ["group", "long request"]


def test_pause_ends_although_another_request_never_waits() -> None:
    turns = 0

    def endless_request() -> None:
        nonlocal turns
        while True:
            turns += 1
            gevent.sleep(0)

    other = gevent.spawn(endless_request)
    try:
        _drain_events()
    finally:
        other.kill()
    assert turns > 1


def test_long_request_waits_for_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough that a test on a busy machine doesn't get there.
    monkeypatch.setattr(fairness, "MAX_PAUSE_SECONDS", 60)
    order: list[str] = []
    is_started, may_end = threading.Event(), threading.Event()

    def short_request() -> None:
        with fairness.request():
            is_started.set()
            may_end.wait()
            order.append("short")

    def long_request() -> None:
        with fairness.request(), fairness.long_request():
            is_pausing.set()
            fairness.let_others_run()
            order.append("long")

    is_pausing = threading.Event()
    threads = [threading.Thread(target=short_request), threading.Thread(target=long_request)]
    threads[0].start()
    is_started.wait()
    threads[1].start()
    is_pausing.wait()
    may_end.set()
    for thread in threads:
        thread.join()
    assert order == ["short", "long"]


def test_long_request_goes_on_although_a_short_one_is_stuck() -> None:
    has_ended = False

    def long_request() -> None:
        nonlocal has_ended
        with fairness.request(), fairness.long_request():
            fairness.let_others_run()
        has_ended = True

    with fairness.request():
        thread = threading.Thread(target=long_request, daemon=True)
        thread.start()
        thread.join(timeout=60)
    assert has_ended


def test_long_requests_take_turns() -> None:
    computing, most = 0, 0

    def long_request() -> None:
        nonlocal computing, most
        with fairness.request(), fairness.long_request(), fairness.turn():
            computing += 1
            most = max(most, computing)
            fairness.let_others_run()
            computing -= 1

    threads = [threading.Thread(target=long_request) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
