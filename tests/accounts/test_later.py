"""What nobody waits for is written later, and what cannot be written harms nothing else."""

import pytest
from django.db import IntegrityError, OperationalError

from accounts.later import MOST_AT_ONCE, MOST_KEPT, Later


class Desk:
    def __init__(self) -> None:
        self.written: list[list[int]] = []
        self.is_away = False

    def write(self, numbers: list[int]) -> None:
        if self.is_away:
            raise OperationalError("away")
        if -1 in numbers:
            raise IntegrityError("refused")
        self.written.append(numbers)


def make_later(desk: Desk, numbers: range | list[int]) -> Later[int]:
    later = Later(desk.write)
    for number in numbers:
        later.add(number)
    return later


def test_many_are_written_at_once_and_never_twice() -> None:
    desk = Desk()
    later = make_later(desk, range(MOST_AT_ONCE + 3))
    later.write()
    later.write()
    assert [len(part) for part in desk.written] == [MOST_AT_ONCE, 3]


def test_they_wait_in_their_order_while_the_database_is_away() -> None:
    desk = Desk()
    desk.is_away = True
    later = make_later(desk, [1, 2])
    later.write()
    later.add(3)
    desk.is_away = False
    later.write()
    assert desk.written == [[1, 2, 3]]


def test_one_that_is_refused_does_not_take_the_others_with_it() -> None:
    desk = Desk()
    make_later(desk, [1, 2, -1, 3]).write()
    assert sorted(number for part in desk.written for number in part) == [1, 2, 3]


@pytest.mark.parametrize("too_many", [1, 500])
def test_only_so_many_wait(too_many: int) -> None:
    desk = Desk()
    make_later(desk, range(MOST_KEPT + too_many)).write()
    assert sum(len(part) for part in desk.written) == MOST_KEPT
