"""What many ask for at the same moment is done once for all of them. Pure.

A database answers sixteen questions in little more time than one, and writes sixteen charges to the
disk in the time of one. So whoever comes while the work is being done waits, and all who wait are
served together by the next turn. Nobody waits for company: who comes alone is served at once, and
does the work in their own thread or greenlet.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Got = TypeVar("Got")

# Whoever does the work gives up long before this.
LONGEST_WAIT_SECONDS = 10.0
MOST_AT_ONCE = 64


class Together(Generic[Asked, Got]):
    def __init__(self, work: Callable[[list[Asked]], Sequence[Got]]) -> None:
        """`work` answers each that it is handed, in their order. What it raises is everybody's who
        waits: if it could not be done for these, the next ones need not find out by waiting."""
        self._work = work
        self._lock = threading.Lock()
        self._waiting: list[_Call[Asked, Got]] = []
        self._is_busy = False

    def ask(self, asked: Asked) -> Got:
        call: _Call[Asked, Got] = _Call(asked)
        with self._lock:
            self._waiting.append(call)
            is_first, self._is_busy = not self._is_busy, True
        if is_first or self._waits_in_vain(call):
            self._serve()
        if call.error is not None:
            raise call.error
        return call.got

    def _waits_in_vain(self, call: "_Call[Asked, Got]") -> bool:
        """True when nobody does it for this one: it is their own turn to do the work."""
        try:
            return not call.wait()
        except BaseException:
            self._withdraw(call)
            raise

    def _withdraw(self, call: "_Call[Asked, Got]") -> None:
        """Whoever is gone is asked for nothing, and does not stop the others."""
        with self._lock:
            if call not in self._waiting:
                return
            self._waiting.remove(call)
        if call.is_successor:
            self._pass_on([], None)

    def _serve(self) -> None:
        """By one of those who wait, for all of them."""
        with self._lock:
            calls, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
        error: BaseException | None = None
        try:
            for call, got in zip(calls, self._work([call.asked for call in calls]), strict=True):
                call.got = got
        except BaseException as raised:
            # That the one who works is ended is their fate alone.
            is_ours = isinstance(raised, Exception)
            error = raised if is_ours else RuntimeError("The one who did the work was ended.")
            raise
        finally:
            self._pass_on(calls, error)

    def _pass_on(self, calls: "list[_Call[Asked, Got]]", error: BaseException | None) -> None:
        with self._lock:
            if error is not None:
                calls, self._waiting = calls + self._waiting, []
            successor = self._waiting[0] if self._waiting else None
            self._is_busy = successor is not None
        for call in calls:
            call.end(error)
        if successor is not None:
            successor.take_over()


class _Call(Generic[Asked, Got]):
    got: Got

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.error: BaseException | None = None
        self.is_successor = self._is_over = False
        # A lock is the cheapest thing to wait for.
        self._bell = threading.Lock()
        self._bell.acquire()

    def wait(self) -> bool:
        """False when it is this one's turn to do the work."""
        if not self._bell.acquire(timeout=LONGEST_WAIT_SECONDS):
            raise TimeoutError("What was asked for together was never done.")
        return self._is_over

    def end(self, error: BaseException | None) -> None:
        self.error, self._is_over = error, True
        self._bell.release()

    def take_over(self) -> None:
        self.is_successor = True
        self._bell.release()
