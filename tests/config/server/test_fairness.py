"""A web worker lets other requests run during one that computes for long."""

import gevent

from config.server.worker import _let_others_run, _yield_to_greenlets


def test_long_request_pauses_until_the_others_wait() -> None:
    steps: list[int] = []

    def other_request() -> None:
        for step in range(3):
            gevent.sleep(0)
            steps.append(step)

    gevent.spawn(other_request)
    _let_others_run()
    assert steps == [0, 1, 2]


def test_group_that_waits_for_more_callers_goes_first() -> None:
    order: list[str] = []

    def wait(pause: str) -> None:
        {"long request": _let_others_run, "group": _yield_to_greenlets}[pause]()
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
        _let_others_run()
    finally:
        other.kill()
    assert turns > 1
