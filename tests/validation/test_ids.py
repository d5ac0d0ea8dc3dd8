"""Ids of results and batches."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from validation.ids import (
    BATCH_ID,
    BATCH_PREFIX,
    RESULT_ID_PATTERN,
    RESULT_PREFIX,
    first_id_at,
    new_batch_id,
    new_ids,
    new_result_id,
    result_created_at,
)

MOMENT = datetime(2026, 11, 20, 18, 30, 0, 123_000, UTC)


def test_id_contains_the_time_to_the_millisecond() -> None:
    with time_machine.travel(MOMENT, tick=False):
        ids = [new_result_id(), new_batch_id(), *new_ids(RESULT_PREFIX, 3)]
    assert {result_created_at(each) for each in ids} == {MOMENT}


def test_ids_have_the_documented_form() -> None:
    assert all(re.fullmatch(RESULT_ID_PATTERN, each) for each in new_ids(RESULT_PREFIX, 50))
    assert re.fullmatch(RESULT_ID_PATTERN, new_result_id())
    assert BATCH_ID.match(new_batch_id())


def test_ids_of_one_moment_differ_and_use_all_letters() -> None:
    with time_machine.travel(MOMENT, tick=False):
        ids = new_ids(RESULT_PREFIX, 100) + new_ids(RESULT_PREFIX, 100)
    assert len(set(ids)) == 200
    assert {letter for each in ids for letter in each[-16:]} == set(
        "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    )


@pytest.mark.parametrize(
    ("prefix", "new_id"), [(RESULT_PREFIX, new_result_id), (BATCH_PREFIX, new_batch_id)]
)
def test_first_id_of_a_moment_separates_earlier_ids_from_later_ones(
    prefix: str, new_id: Callable[[], str]
) -> None:
    with time_machine.travel(MOMENT - timedelta(milliseconds=1), tick=False):
        earlier = [new_id() for _ in range(20)]
    with time_machine.travel(MOMENT, tick=False):
        later = [new_id() for _ in range(20)]
    first = first_id_at(MOMENT, prefix)
    assert result_created_at(first) == MOMENT
    assert max(earlier) < first <= min(later)
