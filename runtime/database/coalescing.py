"""Coalesce concurrent calls into groups that one unit of work serves: docs/design/coalescing.md."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Generic, TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")

MAX_GROUP_SIZE = 64
MAX_WAIT_SECONDS = 0.1

# While others wait for this lock, their groups grow.
_work_lock = threading.Lock()


@contextmanager
def _one_group_at_a_time() -> Iterator[None]:
    """Wait only briefly: a store that doesn't respond must not block others."""
    is_acquired = _work_lock.acquire(timeout=MAX_WAIT_SECONDS)
    try:
        yield
    finally:
        if is_acquired:
            _work_lock.release()


def yield_to_others() -> None:
    """Let more callers join. config/server/worker.py replaces this."""


class WorkInterrupted(RuntimeError):
    """Raised if the caller that ran the group was killed, so the outcome is unknown."""


class Coalescer(Generic[Argument, Result]):
    def __init__(
        self, work: Callable[[list[Argument]], Sequence[Result]], *, may_wait: bool = False
    ) -> None:
        """Serve groups with `work`, which returns results in the order of its arguments.

        If it fails, all waiting callers fail. With `may_wait`, it may block on a lock, so other
        coalescers don't wait for it.
        """
        self._work = work
        self._work_slot = nullcontext if may_wait else _one_group_at_a_time
        self._lock = threading.Lock()
        self._waiting: list[_Call[Argument, Result]] = []
        self._is_busy = False

    def submit(self, argument: Argument) -> Result:
        call: _Call[Argument, Result] = _Call(argument)
        with self._lock:
            self._waiting.append(call)
            is_first, self._is_busy = not self._is_busy, True
        if is_first or self._must_lead(call):
            self._run_group(call)
        if call.error is not None:
            # All callers raise the same object, and each would add its frames.
            raise call.error.with_traceback(None)
        return call.result

    def _must_lead(self, call: "_Call[Argument, Result]") -> bool:
        """Wait until served, or return True if the call has to run the next group."""
        try:
            return not call.wait()
        except BaseException:
            # The caller was killed. If it was to lead, another one must.
            if self._remove(call) and call.is_leader:
                self._finish([], None)
            raise

    def _run_group(self, own: "_Call[Argument, Result]") -> None:
        group: list[_Call[Argument, Result]] = []
        error: BaseException | None = None
        try:
            with self._work_slot():
                yield_to_others()
                group = self._take(MAX_GROUP_SIZE)
                results = self._work([call.argument for call in group])
            for call, result in zip(group, results, strict=True):
                call.result = result
        except Exception as raised:
            error = raised
            group += self._take(None)
            raise
        except BaseException:
            # The next leader serves the others.
            error = WorkInterrupted("The caller that ran this group was killed.")
            self._remove(own)
            raise
        finally:
            self._finish(group, error)

    def _take(self, limit: int | None) -> "list[_Call[Argument, Result]]":
        with self._lock:
            taken = self._waiting[:limit]
            del self._waiting[:limit]
        return taken

    def _remove(self, call: "_Call[Argument, Result]") -> bool:
        with self._lock:
            was_waiting = call in self._waiting
            if was_waiting:
                self._waiting.remove(call)
        return was_waiting

    def _finish(self, group: "list[_Call[Argument, Result]]", error: BaseException | None) -> None:
        """Wake up the group's callers, and the leader of the next one."""
        with self._lock:
            leader = self._waiting[0] if self._waiting else None
            self._is_busy = leader is not None
        for call in group:
            call.finish(error)
        if leader is not None:
            leader.lead()


class _Call(Generic[Argument, Result]):
    result: Result

    def __init__(self, argument: Argument) -> None:
        self.argument = argument
        self.error: BaseException | None = None
        self.is_leader = self._is_done = False
        # A lock is the cheapest primitive to wait for.
        self._wake_up = threading.Lock()
        self._wake_up.acquire()

    def wait(self) -> bool:
        self._wake_up.acquire()
        return self._is_done

    def finish(self, error: BaseException | None) -> None:
        self.error, self._is_done = error, True
        self._wake_up.release()

    def lead(self) -> None:
        self.is_leader = True
        self._wake_up.release()
