"""Buffered rows are written in batches, and a row that can't be written doesn't affect others."""

import pytest
from django.db import DataError, OperationalError

from runtime.database.write_behind import BATCH_SIZE, MAX_BUFFERED, WriteBuffer


class Store:
    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.is_unavailable = False

    def write(self, numbers: list[int]) -> None:
        if self.is_unavailable:
            raise OperationalError("unavailable")
        self.batches.append(numbers)


def filled_buffer(store: Store, numbers: range | list[int]) -> WriteBuffer[int]:
    buffer = WriteBuffer(store.write)
    for number in numbers:
        buffer.add(number)
    return buffer


def test_items_are_written_in_batches_and_only_once() -> None:
    store = Store()
    buffer = filled_buffer(store, range(BATCH_SIZE + 3))
    buffer.flush()
    buffer.flush()
    assert [len(batch) for batch in store.batches] == [BATCH_SIZE, 3]


def test_items_stay_in_order_while_the_database_is_unavailable() -> None:
    store = Store()
    store.is_unavailable = True
    buffer = filled_buffer(store, [1, 2])
    buffer.flush()
    buffer.add(3)
    store.is_unavailable = False
    buffer.flush()
    assert store.batches == [[1, 2, 3]]


@pytest.mark.parametrize("excess", [1, 500])
def test_full_buffer_drops_further_items(excess: int) -> None:
    store = Store()
    filled_buffer(store, range(MAX_BUFFERED + excess)).flush()
    assert sum(len(batch) for batch in store.batches) == MAX_BUFFERED


class FailingStore:
    """Refuse some numbers always, and others with an outage the first time."""

    def __init__(self, error: type[Exception], bad: set[int], unavailable_once: set[int]) -> None:
        self.written: list[int] = []
        self._error, self._bad, self._unavailable_once = error, bad, unavailable_once

    def write(self, numbers: list[int]) -> None:
        if self._bad & set(numbers):
            raise self._error("This number can't be written.")
        if hit := self._unavailable_once & set(numbers):
            self._unavailable_once -= hit
            raise OperationalError("The database is unavailable.")
        self.written += numbers


@pytest.mark.parametrize("error", [DataError, TypeError])
def test_items_are_written_once_despite_bad_ones_and_an_outage(error: type[Exception]) -> None:
    store = FailingStore(error, bad={0, 7}, unavailable_once={15})
    buffer = WriteBuffer(store.write)
    for number in range(20):
        buffer.add(number)
    buffer.flush()
    assert 15 not in store.written
    buffer.flush()
    assert sorted(store.written) == [number for number in range(20) if number not in {0, 7}]
