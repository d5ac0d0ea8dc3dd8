"""Run by test_coalescing.py: of four waiting greenlets, the next leader is killed."""

# ruff: noqa: E402
from gevent import monkey

monkey.patch_all()

import gevent
from gevent.event import Event

from runtime.database.coalescing import Coalescer

groups: list[list[int]] = []
may_finish = Event()


def double(numbers: list[int]) -> list[int]:
    groups.append(numbers)
    may_finish.wait()
    return [2 * number for number in numbers]


coalescer = Coalescer(double)
greenlets = [gevent.spawn(coalescer.submit, number) for number in range(4)]
gevent.sleep(0.05)
# The first greenlet works, and this one would lead the next group.
greenlets[1].kill()
may_finish.set()
gevent.joinall(greenlets, timeout=10)
outcomes = [
    "killed" if isinstance(greenlet.value, gevent.GreenletExit) else greenlet.value
    for greenlet in greenlets
]
print(outcomes, groups)
