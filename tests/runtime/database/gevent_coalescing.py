"""Run by test_together.py: of four greenlets that ask, the next in turn is ended while it waits."""

# ruff: noqa: E402
from gevent import monkey

monkey.patch_all()

import gevent
from gevent.event import Event

from runtime.database.coalescing import Coalescer

turns: list[list[int]] = []
may_end = Event()


def double(numbers: list[int]) -> list[int]:
    turns.append(numbers)
    may_end.wait()
    return [2 * number for number in numbers]


together = Coalescer(double)
greenlets = [gevent.spawn(together.ask, number) for number in range(4)]
gevent.sleep(0.05)
# The next in turn.
greenlets[1].kill()
may_end.set()
gevent.joinall(greenlets, timeout=10)
ended = ["ended" if isinstance(one.value, gevent.GreenletExit) else one.value for one in greenlets]
print(ended, turns)
