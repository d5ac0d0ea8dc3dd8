"""What many ask for at the same moment is done once for all of them. Pure.

A database answers sixteen questions in little more time than one, and writes sixteen charges to the
disk in the time of one. So whoever comes while the work is being done waits, and all who wait are
served together by the next turn. Who comes alone is served at once. Each time one of those who wait
does the work, in their own thread or greenlet: nothing runs beside the requests.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Generic, TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")

MAX_GROUP_SIZE = 64
# For the turn of another kind of work. What takes longer than this is in trouble of its own.
LONGEST_WAIT_SECONDS = 0.1

# One kind of work at a time, for kinds that never wait long: meanwhile more come for the next one.
_turn = threading.Lock()


@contextmanager
def _in_turn() -> Iterator[None]:
    """A courtesy, not a rule: a store that is silent holds up nobody who asks another one."""
    is_ours = _turn.acquire(timeout=LONGEST_WAIT_SECONDS)
    try:
        yield
    finally:
        if is_ours:
            _turn.release()


def yield_to_others() -> None:
    """Called before each turn. The web worker says how: config/server/worker.py."""


class WorkInterrupted(RuntimeError):
    """The caller that did the work of a group was ended before it could say how it went."""


class Coalescer(Generic[Argument, Result]):
    def __init__(
        self, work: Callable[[list[Argument]], Sequence[Result]], *, may_wait: bool = False
    ) -> None:
        """`work` answers each that it is handed, in their order. What it raises is everybody's who
        waits: if it could not be done for these, the next ones need not find out by waiting.

        `may_wait`: for work that may wait for somebody else, whom no other work must wait for.
        """
        self._work = work
        self._turn = nullcontext if may_wait else _in_turn
        self._lock = threading.Lock()
        self._waiting: list[_Call[Argument, Result]] = []
        self._is_busy = False

    def ask(self, asked: Argument) -> Result:
        call: _Call[Argument, Result] = _Call(asked)
        with self._lock:
            self._waiting.append(call)
            is_first, self._is_busy = not self._is_busy, True
        if is_first or self._is_next(call):
            self._serve(call)
        if call.error is not None:
            # It is raised by many: each would add its own places to those of all before.
            raise call.error.with_traceback(None)
        return call.got

    def _is_next(self, call: "_Call[Argument, Result]") -> bool:
        """Waits until it is done, or until it is this one's turn to do it."""
        try:
            return not call.wait()
        except BaseException:
            self._withdraw(call)
            raise

    def _withdraw(self, call: "_Call[Argument, Result]") -> None:
        """Whoever is gone is asked for nothing, and does not stop the others."""
        if self._forget(call) and call.is_next:
            self._pass_on([], None)

    def _serve(self, own: "_Call[Argument, Result]") -> None:
        """By one of those who wait, for all of them."""
        calls: list[_Call[Argument, Result]] = []
        error: BaseException | None = None
        try:
            with self._turn():
                yield_to_others()
                calls = self._take(MAX_GROUP_SIZE)
                done = self._work([call.asked for call in calls])
            for call, got in zip(calls, done, strict=True):
                call.got = got
        except Exception as raised:
            error = raised
            calls += self._take(None)
            raise
        except BaseException:
            # That the one who works is ended is nobody's fate whom they had not begun to serve.
            error = WorkInterrupted("The caller that did the work of this group was ended.")
            self._forget(own)
            raise
        finally:
            self._pass_on(calls, error)

    def _take(self, most: int | None) -> "list[_Call[Argument, Result]]":
        with self._lock:
            taken = self._waiting[:most]
            del self._waiting[:most]
        return taken

    def _forget(self, call: "_Call[Argument, Result]") -> bool:
        """Whether it was still waiting."""
        with self._lock:
            was_waiting = call in self._waiting
            if was_waiting:
                self._waiting.remove(call)
        return was_waiting

    def _pass_on(self, calls: "list[_Call[Argument, Result]]", error: BaseException | None) -> None:
        with self._lock:
            successor = self._waiting[0] if self._waiting else None
            self._is_busy = successor is not None
        for call in calls:
            call.end(error)
        if successor is not None:
            successor.take_over()


class _Call(Generic[Argument, Result]):
    got: Result

    def __init__(self, asked: Argument) -> None:
        self.asked = asked
        self.error: BaseException | None = None
        self.is_next = self._is_over = False
        # A lock is the cheapest thing to wait for.
        self._bell = threading.Lock()
        self._bell.acquire()

    def wait(self) -> bool:
        """False when it is not done, but this one's turn to do it."""
        self._bell.acquire()
        return self._is_over

    def end(self, error: BaseException | None) -> None:
        self.error, self._is_over = error, True
        self._bell.release()

    def take_over(self) -> None:
        self.is_next = True
        self._bell.release()
