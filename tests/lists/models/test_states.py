"""Which states of a list can follow each other."""

from itertools import product

import pytest

from lists.models.states import (
    FINAL,
    HOLDING_CREDITS,
    STATES_BEFORE,
    UNFINISHED,
    WORKABLE,
    ListState,
)

# From the row's state to the column's.
TABLE = """
          uploading parsing ready queued running paused rechecking completed canceled failed expired
uploading  .         yes     .     .      .       .      .          .         yes      .      yes
parsing    .         .       yes   .      .       .      .          .         yes      yes    .
ready      .         yes     .     yes    .       .      .          .         yes      .      yes
queued     .         .       .     .      yes     yes    .          .         yes      .      .
running    .         .       .     .      .       yes    yes        .         yes      yes    .
paused     .         .       .     yes    yes     .      yes        yes       yes      .      .
rechecking .         .       .     .      .       yes    .          yes       yes      yes    .
completed  .         .       .     .      .       .      .          .         .        .      yes
canceled   .         .       .     .      .       .      .          .         .        .      yes
failed     .         .       .     .      .       .      .          .         .        .      yes
expired    .         .       .     .      .       .      .          .         .        .      .
"""
_HEADER, *_ROWS = (line.split() for line in TABLE.strip().splitlines())
ALLOWED = {
    (row[0], new): word == "yes"
    for row in _ROWS
    for new, word in zip(_HEADER, row[1:], strict=True)
}


def test_table_names_every_pair_of_states() -> None:
    assert set(ALLOWED) == set(product(ListState, ListState))


@pytest.mark.parametrize("new", ListState)
def test_states_before_are_the_columns_of_the_table(new: ListState) -> None:
    assert STATES_BEFORE[new] == {current for current in ListState if ALLOWED[current, new]}


def test_every_unfinished_list_can_be_canceled() -> None:
    assert STATES_BEFORE[ListState.CANCELED] == UNFINISHED


def test_final_lists_can_only_expire() -> None:
    assert {new for new in ListState if STATES_BEFORE[new] & FINAL} == {ListState.EXPIRED}


def test_every_list_is_either_unfinished_or_final() -> None:
    assert set(ListState) == UNFINISHED | FINAL
    assert not UNFINISHED & FINAL


def test_started_lists_hold_credits_until_they_are_final() -> None:
    assert {"queued", "running", "paused", "rechecking"} == HOLDING_CREDITS
    assert {ListState.PAUSED} == HOLDING_CREDITS - WORKABLE
    assert HOLDING_CREDITS < UNFINISHED


def test_only_a_started_list_can_be_paused() -> None:
    assert STATES_BEFORE[ListState.PAUSED] == WORKABLE
