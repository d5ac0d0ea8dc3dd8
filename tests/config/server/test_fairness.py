"""A web worker lets short requests go before those that compute for long."""

import itertools
import multiprocessing
import threading
import time

import gevent
import pytest

from config.server import gunicorn_settings
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
    monkeypatch.setattr(fairness, "SLICE_SECONDS", 0)
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


def test_long_request_goes_on_although_a_short_one_is_stuck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fairness, "SLICE_SECONDS", 0)
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


@pytest.mark.parametrize(("slice_seconds", "pauses"), [(0, 100), (3600, 0)])
def test_long_request_pauses_only_after_a_slice(
    monkeypatch: pytest.MonkeyPatch, slice_seconds: float, pauses: int
) -> None:
    monkeypatch.setattr(fairness, "SLICE_SECONDS", slice_seconds)
    paused: list[float] = []
    with fairness.request(), fairness.long_request(), fairness.turn():
        monkeypatch.setattr(fairness, "drain_events", lambda: paused.append(time.monotonic()))
        for _ in range(100):
            fairness.let_others_run()
    assert len(paused) == pauses


def test_slice_starts_again_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    monkeypatch.setattr(fairness, "SLICE_SECONDS", 3600)
    monkeypatch.setattr(fairness, "_short_requests", fairness._ShortRequests())
    with fairness.request(), fairness.long_request(), fairness.turn():
        monkeypatch.setattr(fairness, "drain_events", lambda: paused.append(time.monotonic()))
        fairness._current.slice_started_at -= 3600
        fairness.let_others_run()
        fairness.let_others_run()
    assert len(paused) == 1


def test_long_requests_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "SLICE_SECONDS", 0)
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


def test_steps_of_lookups_wait_in_line_while_others_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "MAX_LINE_SECONDS", 60)
    pausing, most, pauses = 0, 0, 0

    def pause() -> None:
        nonlocal pausing, most, pauses
        pausing, pauses = pausing + 1, pauses + 1
        most = max(most, pausing)
        time.sleep(0.001)
        pausing -= 1

    monkeypatch.setattr(fairness, "STEPS_PER_SLICE", 1)
    monkeypatch.setattr(fairness, "_let_short_requests_go_first", pause)
    monkeypatch.setattr(fairness, "EXPECTED_SECONDS", 60)
    with fairness.request():
        pass
    threads = [threading.Thread(target=fairness.wait_in_line) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, pauses) == (1, 8)


def test_step_of_a_lookup_goes_on_although_the_line_is_stuck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(fairness, "STEPS_PER_SLICE", 1)
    monkeypatch.setattr(fairness, "drain_events", lambda: pauses.append(time.monotonic()))
    monkeypatch.setattr(fairness, "EXPECTED_SECONDS", 60)
    with fairness.request():
        pass
    with fairness._line:
        fairness.wait_in_line()
    assert not pauses
    fairness.wait_in_line()
    assert len(pauses) == 1


def test_lookups_pause_once_for_several_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(fairness, "_steps", itertools.count(1))
    monkeypatch.setattr(fairness, "drain_events", lambda: pauses.append(time.monotonic()))
    monkeypatch.setattr(fairness, "EXPECTED_SECONDS", 60)
    with fairness.request():
        pass
    for _ in range(3 * fairness.STEPS_PER_SLICE):
        fairness.wait_in_line()
    assert len(pauses) == 3


def test_steps_of_lookups_do_not_pause_while_no_one_else_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(fairness, "STEPS_PER_SLICE", 1)
    monkeypatch.setattr(fairness, "drain_events", lambda: pauses.append(time.monotonic()))
    monkeypatch.setattr(fairness, "_short_requests", fairness._ShortRequests())
    with fairness.request(), fairness.long_request():
        pass
    fairness.wait_in_line()
    assert not pauses


@pytest.mark.parametrize(("has_short_requests", "rests"), [(True, 1), (False, 0)])
def test_long_request_rests_after_its_turn_only_if_others_call(
    monkeypatch: pytest.MonkeyPatch, has_short_requests: bool, rests: int
) -> None:
    monkeypatch.setattr(fairness, "EXPECTED_SECONDS", 60)
    monkeypatch.setattr(fairness, "_short_requests", fairness._ShortRequests())
    if has_short_requests:
        with fairness.request():
            pass
    slept: list[float] = []
    with fairness.request(), fairness.long_request(), fairness.turn():
        monkeypatch.setattr(time, "sleep", slept.append)
    assert len(slept) == rests


# Since Python 3.12, a fork warns if the process has threads, as those of pytest-xdist have.
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_long_request_rests_while_others_call_another_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fairness, "EXPECTED_SECONDS", 60)
    monkeypatch.setattr(fairness, "_short_requests", fairness._ShortRequests())
    # Web workers inherit the memory in the same way.
    fairness.share_between_processes(gunicorn_settings._memory)
    worker = multiprocessing.get_context("fork").Process(target=_serve_short_request)
    slept: list[float] = []
    with fairness.request(), fairness.long_request(), fairness.turn():
        worker.start()
        worker.join()
        monkeypatch.setattr(time, "sleep", slept.append)
    assert len(slept) == 1


def _serve_short_request() -> None:
    with fairness.request():
        pass
