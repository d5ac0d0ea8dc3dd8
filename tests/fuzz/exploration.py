"""Run a fuzz target with a few fixed examples, or with random ones until a time limit.

`python -m tests.fuzz` sets the limit and reads the counts.
"""

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

# The time limit of each test; 0 in `make test` and `make proofs`.
SECONDS = float(os.environ.get("FUZZ_TEST_SECONDS", "0"))
REPORTS = os.environ.get("FUZZ_REPORTS", "")
# Examples per round. Hypothesis starts each round with small examples, and avoids duplicates only
# within a round.
ROUND_SIZE = 400
WRITE_INTERVAL = 1.0


# A SkipTest, which Hypothesis passes on immediately.
class TimeIsUp(SkipTest):
    pass


class CaseCounts:
    """Counts the cases of each test in this process, for the process that started it."""

    def __init__(self) -> None:
        self._cases: Counter[str] = Counter()
        self._written_at = 0.0
        # None if there is no time limit.
        self.ends_at: float | None = None

    @contextmanager
    def count_case(self) -> Iterator[None]:
        self.add(1)
        try:
            yield
        except HypothesisException:
            raise
        except Exception:
            # No limit from here on, so that Hypothesis can shrink the example.
            self.ends_at = None
            raise

    def stop_if_time_is_up(self) -> None:
        """End a round early, because a round may take long."""
        if self.ends_at is not None and time.monotonic() > self.ends_at:
            raise TimeIsUp("The time limit passed during a round.")

    def add(self, cases: int) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
        self._cases[test] += cases
        if time.monotonic() > self._written_at + WRITE_INTERVAL:
            self.write()

    def write(self) -> None:
        self._written_at = time.monotonic()
        if REPORTS:
            lines = "".join(f"{cases} {test}\n" for test, cases in self._cases.items())
            (Path(REPORTS) / f"{os.getpid()}").write_text(lines)


counts = CaseCounts()


def explore(
    body: Callable[..., None],
    /,
    *,
    quick: int,
    first: Iterable[dict[str, Any]] = (),
    **strategies: st.SearchStrategy[Any],
) -> None:
    """Call `body` with the `first` cases, then with cases from the strategies."""

    @wraps(body)
    def counted(**case: Any) -> None:
        counts.stop_if_time_is_up()
        with counts.count_case():
            body(**case)

    def prepare(run_settings: settings) -> Callable[[], None]:
        test: Any = given(**strategies)(counted)
        for case in first_cases:
            test = example(**case)(test)
        # Only the first round runs them.
        first_cases.clear()
        configured: Callable[[], None] = run_settings(test)
        return configured

    first_cases = list(first)
    _in_rounds(prepare, quick)


def explore_steps(machine: type[RuleBasedStateMachine], *, quick: int, steps: int) -> int:
    """Run a state machine, counting each step as a case. Return how many steps passed."""
    passed = 0

    class Counted(machine):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self.changes = rolled_back()
            self.changes.__enter__()

        def check_invariants(self, *arguments: Any, **keywords: Any) -> None:
            nonlocal passed
            with counts.count_case():
                super().check_invariants(*arguments, **keywords)
            passed += 1

        def teardown(self) -> None:
            super().teardown()
            self.changes.__exit__(None, None, None)

    def prepare(run_settings: settings) -> Callable[[], None]:
        return lambda: run_state_machine_as_test(Counted, settings=run_settings)

    # No shrinking: these tests move the clock that it relies on, and it takes too long.
    _in_rounds(prepare, quick, per_round=3, stateful_step_count=steps, phases=[Phase.generate])
    return passed


@contextmanager
def rolled_back() -> Iterator[None]:
    """Undo what one case did to the database and the counters."""
    cache.clear()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _in_rounds(
    prepare: Callable[[settings], Callable[[], None]],
    quick: int,
    *,
    per_round: int = ROUND_SIZE,
    **extra: Any,
) -> None:
    options = {
        "deadline": None,
        "database": None,
        "suppress_health_check": list(HealthCheck),
        **extra,
    }
    if not SECONDS:
        prepare(settings(max_examples=quick, derandomize=True, **options))()
        return
    counts.ends_at = time.monotonic() + SECONDS
    try:
        while time.monotonic() < counts.ends_at:
            prepare(settings(max_examples=per_round, derandomize=False, **options))()
    except TimeIsUp:
        pass
    finally:
        counts.write()
