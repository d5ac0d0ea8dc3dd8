"""Classify the typing error that turned one word into another. Pure."""

from enum import IntEnum

_KEYBOARD_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
# People confuse these when they copy a word by sight.
_LOOKALIKES = {frozenset(pair) for pair in ("0o", "1l", "1i")}


class Typo(IntEnum):
    """Kinds of single typing errors, the most likely first."""

    TRANSPOSED = 1
    DOUBLED = 2
    OMITTED = 3
    # An adjacent key, instead of the right one or in addition to it.
    ADJACENT_KEY = 4
    # Any other single letter.
    OTHER = 9


def classify_typo(typed: str, target: str) -> Typo | None:
    """Return the single typo between two words, or None if they are equal or differ in more."""
    if abs(len(typed) - len(target)) > 1 or typed == target:
        return None
    shorter = min(len(typed), len(target))
    start = 0
    while start < shorter and typed[start] == target[start]:
        start += 1
    end, longest_end = 0, shorter - start
    while end < longest_end and typed[-1 - end] == target[-1 - end]:
        end += 1
    wrong, right = typed[start : len(typed) - end], target[start : len(target) - end]
    if len(wrong) == 2 and wrong == right[::-1]:
        return Typo.TRANSPOSED
    if not wrong and len(right) == 1:
        return Typo.OMITTED
    if len(wrong) == 1 and not right:
        adjacent = typed[max(0, start - 1) : start] + typed[start + 1 : start + 2]
        return _classify_insertion(wrong, adjacent)
    if len(wrong) == len(right) == 1:
        return Typo.ADJACENT_KEY if are_adjacent_keys(wrong, right) else Typo.OTHER
    return None


def starts_alike(typed: str, target: str) -> bool:
    """Whether the first letters match or are swapped.

    People rarely mistype the first letter, but many unrelated domains differ only there.
    """
    return typed[:1] == target[:1] or typed[:2] == target[1::-1]


def are_adjacent_keys(key: str, other: str) -> bool:
    """Whether two keys are next to each other on the keyboard, or their letters look alike."""
    if key == other:
        return False
    if frozenset(key + other) in _LOOKALIKES:
        return True
    positions = [_key_position(key), _key_position(other)]
    if None in positions:
        return False
    (row, column), (other_row, other_column) = (place for place in positions if place is not None)
    # Each row is offset by half a key to the right of the row above it.
    distance = (column + row / 2) - (other_column + other_row / 2)
    return abs(row - other_row) <= 1 and abs(distance) <= 1


def edit_distance(word: str, other: str) -> int:
    """Count the typos between two words, as the optimal string alignment distance."""
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        current = [i]
        for j, against in enumerate(other, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == against:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        before, previous = previous, current
    return previous[-1]


def _classify_insertion(letter: str, adjacent: str) -> Typo:
    if letter in adjacent:
        return Typo.DOUBLED
    is_adjacent_key = any(are_adjacent_keys(letter, neighbor) for neighbor in adjacent)
    return Typo.ADJACENT_KEY if is_adjacent_key else Typo.OTHER


def _key_position(key: str) -> tuple[int, int] | None:
    rows = enumerate(_KEYBOARD_ROWS)
    return next(((row, keys.index(key)) for row, keys in rows if key in keys), None)
