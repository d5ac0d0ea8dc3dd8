"""How one word became another under somebody's fingers. Pure."""

from enum import IntEnum

_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
# What looks alike is copied wrong as easily as a key is missed.
_LOOKALIKES = {frozenset(pair) for pair in ("0o", "1l", "1i")}


class Slip(IntEnum):
    """The likelier, the smaller."""

    TRANSPOSED = 1
    DOUBLED = 2
    OMITTED = 3
    # A key beside the right one, instead of it or with it.
    NEIGHBOUR = 4
    # Any other single letter.
    STRANGE = 9


def slip_between(typed: str, meant: str) -> Slip | None:
    """The one slip that tells them apart; None when they are the same, or it takes more."""
    if abs(len(typed) - len(meant)) > 1 or typed == meant:
        return None
    start = 0
    while start < min(len(typed), len(meant)) and typed[start] == meant[start]:
        start += 1
    end = 0
    while end < min(len(typed), len(meant)) - start and typed[-1 - end] == meant[-1 - end]:
        end += 1
    wrong, right = typed[start : len(typed) - end], meant[start : len(meant) - end]
    if len(wrong) == 2 and wrong == right[::-1]:
        return Slip.TRANSPOSED
    if not wrong and len(right) == 1:
        return Slip.OMITTED
    if len(wrong) == 1 and not right:
        return _inserted(wrong, typed[max(0, start - 1) : start] + typed[start + 1 : start + 2])
    if len(wrong) == len(right) == 1:
        return Slip.NEIGHBOUR if are_neighbours(wrong, right) else Slip.STRANGE
    return None


def first_letter_is_right(typed: str, meant: str) -> bool:
    """People seldom miss the first one; that many domains differ in nothing else is common."""
    return typed[:1] == meant[:1] or typed[:2] == meant[1::-1]


def are_neighbours(one: str, other: str) -> bool:
    if one == other:
        return False
    if frozenset(one + other) in _LOOKALIKES:
        return True
    places = [_place(one), _place(other)]
    if None in places:
        return False
    (row, column), (other_row, other_column) = (place for place in places if place is not None)
    # Each row stands half a key further to the right than the one above it.
    distance = (column + row / 2) - (other_column + other_row / 2)
    return abs(row - other_row) <= 1 and abs(distance) <= 1


def distance_between(one: str, other: str) -> int:
    """How many slips it takes: optimal string alignment."""
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        current = [i]
        for j, against in enumerate(other, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        before, previous = previous, current
    return previous[-1]


def _inserted(letter: str, beside: str) -> Slip:
    if letter in beside:
        return Slip.DOUBLED
    is_beside = any(are_neighbours(letter, one) for one in beside)
    return Slip.NEIGHBOUR if is_beside else Slip.STRANGE


def _place(key: str) -> tuple[int, int] | None:
    return next(((row, keys.index(key)) for row, keys in enumerate(_ROWS) if key in keys), None)
