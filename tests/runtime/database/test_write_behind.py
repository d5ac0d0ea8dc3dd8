"""What nobody waits for is written later, and what cannot be written harms nothing else."""

import pytest
from django.db import DataError, OperationalError

from runtime.database.write_behind import BATCH_SIZE, MAX_BUFFERED, WriteBuffer


class Desk:
    def __init__(self) -> None:
        self.written: list[list[int]] = []
        self.is_away = False

    def write(self, numbers: list[int]) -> None:
        if self.is_away:
            raise OperationalError("away")
        self.written.append(numbers)


def make_later(desk: Desk, numbers: range | list[int]) -> WriteBuffer[int]:
    later = WriteBuffer(desk.write)
    for number in numbers:
        later.add(number)
    return later


def test_many_are_written_at_once_and_never_twice() -> None:
    desk = Desk()
    later = make_later(desk, range(BATCH_SIZE + 3))
    later.write()
    later.write()
    assert [len(part) for part in desk.written] == [BATCH_SIZE, 3]


def test_they_wait_in_their_order_while_the_database_is_away() -> None:
    desk = Desk()
    desk.is_away = True
    later = make_later(desk, [1, 2])
    later.write()
    later.add(3)
    desk.is_away = False
    later.write()
    assert desk.written == [[1, 2, 3]]


@pytest.mark.parametrize("too_many", [1, 500])
def test_only_so_many_wait(too_many: int) -> None:
    desk = Desk()
    make_later(desk, range(MAX_BUFFERED + too_many)).write()
    assert sum(len(part) for part in desk.written) == MAX_BUFFERED


class Book:
    """Refuses some for good, and some only the first time."""

    def __init__(self, bad: set[int], away: set[int]) -> None:
        self.written: list[int] = []
        self._bad, self._away = bad, away

    def write(self, numbers: list[int]) -> None:
        if self._bad & set(numbers):
            raise DataError("No such number can be written.")
        if missed := self._away & set(numbers):
            self._away -= missed
            raise OperationalError("The database is away.")
        self.written += numbers


@pytest.mark.parametrize("error", [DataError, TypeError])
def test_one_that_cannot_be_written_takes_no_other_with_it(error: type[Exception]) -> None:
    written: list[int] = []

    def write(numbers: list[int]) -> None:
        if 7 in numbers:
            raise error("No such number can be written.")
        written.extend(numbers)

    later = WriteBuffer(write)
    for number in range(20):
        later.add(number)
    later.write()
    assert sorted(written) == [number for number in range(20) if number != 7]


def test_nothing_is_written_twice_when_the_database_goes_away_in_between() -> None:
    book = Book(bad={0}, away={15})
    later = WriteBuffer(book.write)
    for number in range(20):
        later.add(number)
    later.write()
    assert 15 not in book.written
    later.write()
    assert sorted(book.written) == list(range(1, 20))
