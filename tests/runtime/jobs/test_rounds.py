"""Work that the background worker looks for in each of its rounds."""

from collections.abc import Callable

import pytest
from django.db import OperationalError
from pytest_django import Settings

from runtime.jobs.rounds import run_round
from tests.support.log_records import LogCapture

HERE = "tests.runtime.jobs.test_rounds"

stops: list[bool] = []


def fail(*, is_stopping: Callable[[], bool]) -> None:
    raise RuntimeError("this work always fails")


def record(*, is_stopping: Callable[[], bool]) -> None:
    stops.append(is_stopping())


def lose_database(*, is_stopping: Callable[[], bool]) -> None:
    raise OperationalError("the database is unavailable")


def test_work_that_fails_does_not_stop_the_rest(settings: Settings, records: LogCapture) -> None:
    settings.ON_WORKER_ROUND = [f"{HERE}.fail", f"{HERE}.record"]
    stops.clear()
    run_round(lambda: True)
    assert stops == [True]
    assert f"Background work {HERE}.fail failed" in records.text


def test_unavailable_database_ends_the_round(settings: Settings) -> None:
    settings.ON_WORKER_ROUND = [f"{HERE}.lose_database", f"{HERE}.record"]
    stops.clear()
    with pytest.raises(OperationalError):
        run_round(lambda: False)
    assert stops == []
