"""Run a fuzz target with a few fixed examples, or with random ones until a time limit."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any
from unittest import SkipTest

from django.core.cache import cache
from django.db import transaction
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

# The time limit of each test, set by `make fuzz`.
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
# Examples per round. Hypothesis starts each round with small examples, and avoids duplicates only
# within a round.
ROUND_SIZE = 400


# A SkipTest, which Hypothesis passes on immediately.
class TimeIsUp(SkipTest):
    pass


class TimeLimit:
    """Ends the rounds of a test, which may take long, when its time is up."""

    ends_at: float | None = None

    @contextmanager
    def one_case(self) -> Iterator[None]:
        if self.ends_at is not None and time.monotonic() > self.ends_at:
            raise TimeIsUp("The time limit passed during a round.")
        try:
            yield
        except HypothesisException:
            raise
        except Exception:
            # No limit from here on, so that Hypothesis can shrink the example.
            self.ends_at = None
            raise


time_limit = TimeLimit()


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
    def limited(**case: Any) -> None:
        with time_limit.one_case():
            body(**case)

    def prepare(run_settings: settings) -> Callable[[], None]:
        test: Any = given(**strategies)(limited)
        for case in first_cases:
            test = example(**case)(test)
        # Only the first round runs them.
        first_cases.clear()
        configured: Callable[[], None] = run_settings(test)
        return configured

    first_cases = list(first)
    _in_rounds(prepare, quick)


def explore_steps(machine: type[RuleBasedStateMachine], *, quick: int, steps: int) -> int:
    """Run a state machine, and return how many steps passed."""
    passed = 0

    class Counted(machine):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__()
            self.changes = rolled_back()
            self.changes.__enter__()

        def check_invariants(self, *arguments: Any, **keywords: Any) -> None:
            nonlocal passed
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
    ends_at = time_limit.ends_at = time.monotonic() + SECONDS
    with suppress(TimeIsUp):
        while time.monotonic() < ends_at:
            prepare(settings(max_examples=per_round, derandomize=False, **options))()
