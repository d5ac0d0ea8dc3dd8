"""Coalesce concurrent calls into groups that one unit of work serves (group commit).

A database runs sixteen queries in little more time than one, and writes sixteen charges to disk in
the time of one. While a group runs, new callers block; the next group serves all of them together.
A caller that arrives alone is served immediately. One of the waiting callers does the work, in its
own thread or greenlet: there is no background thread. Independent of Django.

No library groups calls across threads and greenlets. It is what a metered call's rate depends on
most: docs/performance.md, "What made it fast".
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Generic, TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")

MAX_GROUP_SIZE = 64
# How long a group waits for groups of other coalescers. Their work normally takes less.
MAX_WAIT_SECONDS = 0.1

# Held by the coalescer whose group runs. While other coalescers wait for it, their groups grow.
_work_lock = threading.Lock()


@contextmanager
def _one_group_at_a_time() -> Iterator[None]:
    """Hold the lock if possible.

    After the timeout, the group runs without it: a store that doesn't respond never blocks callers
    of another one.
    """
    is_acquired = _work_lock.acquire(timeout=MAX_WAIT_SECONDS)
    try:
        yield
    finally:
        if is_acquired:
            _work_lock.release()


def yield_to_others() -> None:
    """Let more callers join before a group starts. Replaced by config/server/worker.py."""


class WorkInterrupted(RuntimeError):
    """The caller that ran the group was killed, so the outcome of its work is unknown."""


class Coalescer(Generic[Argument, Result]):
    def __init__(
        self, work: Callable[[list[Argument]], Sequence[Result]], *, may_wait: bool = False
    ) -> None:
        """`work` takes a list of arguments and returns their results in the same order.

        If it raises an exception, every caller that waits gets it, including those not in the
        group: they would only wait to run into the same error.

        `may_wait`: the work may block on a lock. Groups of other coalescers don't wait for it.
        """
        self._work = work
        self._work_slot = nullcontext if may_wait else _one_group_at_a_time
        self._lock = threading.Lock()
        self._waiting: list[_Call[Argument, Result]] = []
        self._is_busy = False

    def submit(self, argument: Argument) -> Result:
        """Block until a group has served this call, and return its result."""
        call: _Call[Argument, Result] = _Call(argument)
        with self._lock:
            self._waiting.append(call)
            is_first, self._is_busy = not self._is_busy, True
        if is_first or self._must_lead(call):
            self._run_group(call)
        if call.error is not None:
            # All callers raise the same object. Without this, each would add its own frames.
            raise call.error.with_traceback(None)
        return call.result

    def _must_lead(self, call: "_Call[Argument, Result]") -> bool:
        """Wait until the call is served (False), or has to run the next group (True)."""
        try:
            return not call.wait()
        except BaseException:
            self._withdraw(call)
            raise

    def _withdraw(self, call: "_Call[Argument, Result]") -> None:
        """Remove a killed caller's call. If it was about to lead, another one leads."""
        if self._remove(call) and call.is_leader:
            self._finish([], None)

    def _run_group(self, own: "_Call[Argument, Result]") -> None:
        """Run the work for up to MAX_GROUP_SIZE waiting calls, in the thread of one of them."""
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
            # Only the calls of this group are affected: the others are served by the next leader.
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
        """Return whether the call was still waiting."""
        with self._lock:
            was_waiting = call in self._waiting
            if was_waiting:
                self._waiting.remove(call)
        return was_waiting

    def _finish(self, group: "list[_Call[Argument, Result]]", error: BaseException | None) -> None:
        """Wake up the callers of the group, and the leader of the next one."""
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
        """Return True when the call is served, and False when it has to lead the next group."""
        self._wake_up.acquire()
        return self._is_done

    def finish(self, error: BaseException | None) -> None:
        self.error, self._is_done = error, True
        self._wake_up.release()

    def lead(self) -> None:
        self.is_leader = True
        self._wake_up.release()
