"""How hard a target is tried: with a few examples that are always the same ones, or with random
ones until the time is over. `python -m tests.fuzz` sets the time and reads the counts."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest import SkipTest

from django.core.cache import cache
from django.db import transaction
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

# For each test; 0 in `make test`.
SECONDS = float(os.environ.get("FUZZ_TEST_SECONDS", "0"))
REPORTS = os.environ.get("FUZZ_REPORTS", "")
# Hypothesis begins each round with small examples, and learns within it which ones are new.
ROUND = 400
COUNT_WRITTEN_EVERY = 1.0


# Hypothesis lets it through at once.
class TimeIsOver(SkipTest):
    pass


class Counts:
    """Of each test of this process, for whoever started it."""

    def __init__(self) -> None:
        self._cases: Counter[str] = Counter()
        self._written_at = 0.0
        # None: as many cases as there are to be.
        self.ends_at: float | None = None

    @contextmanager
    def one_more(self) -> Iterator[None]:
        self.add(1)
        try:
            yield
        except HypothesisException:
            raise
        except Exception:
            # What was found is still made smaller.
            self.ends_at = None
            raise

    def stop_if_over(self) -> None:
        """In the middle of a round, which may take long."""
        if self.ends_at is not None and time.monotonic() > self.ends_at:
            raise TimeIsOver("In the middle of a round.")

    def add(self, cases: int) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
        self._cases[test] += cases
        if time.monotonic() > self._written_at + COUNT_WRITTEN_EVERY:
            self.write()

    def write(self) -> None:
        self._written_at = time.monotonic()
        if REPORTS:
            lines = "".join(f"{cases} {test}\n" for test, cases in self._cases.items())
            (Path(REPORTS) / f"{os.getpid()}").write_text(lines)


counts = Counts()


def explore(
    body: Callable[..., None],
    /,
    *,
    quick: int,
    first: Iterable[dict[str, Any]] = (),
    **strategies: st.SearchStrategy[Any],
) -> None:
    """Calls it with what the strategies make, and before that with what comes `first`."""

    @wraps(body)
    def counted(**case: Any) -> None:
        counts.stop_if_over()
        with counts.one_more():
            body(**case)

    def prepare(chosen: settings) -> Callable[[], None]:
        test: Any = given(**strategies)(counted)
        for case in known:
            test = example(**case)(test)
        # Once is enough.
        known.clear()
        done: Callable[[], None] = chosen(test)
        return done

    known = list(first)
    _in_rounds(prepare, quick)


def explore_steps(machine: type[RuleBasedStateMachine], *, quick: int, steps: int) -> int:
    """The same for what is done one after the other; each step is a case. How many held."""
    held = 0

    class Counted(machine):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self.changes = undone()
            self.changes.__enter__()

        def check_invariants(self, *arguments: Any, **named: Any) -> None:
            nonlocal held
            with counts.one_more():
                super().check_invariants(*arguments, **named)
            held += 1

        def teardown(self) -> None:
            super().teardown()
            self.changes.__exit__(None, None, None)

    def prepare(chosen: settings) -> Callable[[], None]:
        return lambda: run_state_machine_as_test(Counted, settings=chosen)

    # Shrinking asks a clock that such tests turn, and takes longer than it helps.
    _in_rounds(prepare, quick, per_round=3, stateful_step_count=steps, phases=[Phase.generate])
    return held


@contextmanager
def undone() -> Iterator[None]:
    """What one case did to the database and the counters is not there for the next."""
    cache.clear()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _in_rounds(
    prepare: Callable[[settings], Callable[[], None]],
    quick: int,
    *,
    per_round: int = ROUND,
    **more: Any,
) -> None:
    usual = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck), **more}
    if not SECONDS:
        prepare(settings(max_examples=quick, derandomize=True, **usual))()
        return
    counts.ends_at = time.monotonic() + SECONDS
    try:
        while time.monotonic() < counts.ends_at:
            prepare(settings(max_examples=per_round, derandomize=False, **usual))()
    except TimeIsOver:
        pass
    finally:
        counts.write()
