from enum import IntEnum

_KEYBOARD_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
# Each row is half a key to the right of the one above.
_KEY_POSITIONS = {
    key: (row, column + row / 2)
    for row, keys in enumerate(_KEYBOARD_ROWS)
    for column, key in enumerate(keys)
}
_LOOKALIKES = {frozenset(pair) for pair in ("0o", "1l", "1i")}


class Typo(IntEnum):
    """A single typing error, the likeliest first."""

    TRANSPOSED = 1
    DOUBLED = 2
    OMITTED = 3
    ADJACENT_KEY = 4
    OTHER = 9


def classify_typo(typed: str, target: str) -> Typo | None:
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
    if len(wrong) == 1 and len(right) <= 1:
        neighbors = right or typed[max(0, start - 1) : start] + typed[start + 1 : start + 2]
        if not right and wrong in neighbors:
            return Typo.DOUBLED
        is_adjacent_key = any(are_adjacent_keys(wrong, letter) for letter in neighbors)
        return Typo.ADJACENT_KEY if is_adjacent_key else Typo.OTHER
    return None


def starts_alike(typed: str, target: str) -> bool:
    """Return whether the first letters match or are swapped. Other typos there are rare."""
    return typed[:1] == target[:1] or typed[:2] == target[1::-1]


def are_adjacent_keys(key: str, other: str) -> bool:
    """Return whether two keys are neighbors, or look alike."""
    if key == other:
        return False
    if frozenset(key + other) in _LOOKALIKES:
        return True
    if key not in _KEY_POSITIONS or other not in _KEY_POSITIONS:
        return False
    (row, column), (other_row, other_column) = _KEY_POSITIONS[key], _KEY_POSITIONS[other]
    return abs(row - other_row) <= 1 and abs(column - other_column) <= 1


def edit_distance(word: str, other: str) -> int:
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
