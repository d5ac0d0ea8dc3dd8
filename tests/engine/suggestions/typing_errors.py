"""Make typing errors, independently of the engine's code."""

from collections.abc import Iterator
from string import ascii_lowercase

LETTERS = ascii_lowercase + "019-"


def make_typos(domain: str, letters: str = LETTERS) -> set[str]:
    """Return each domain that one typo turns the given one into, periods included."""
    return {typo for typo in _edits(domain, letters) if typo != domain and _is_domain(typo)}


def _edits(word: str, letters: str) -> Iterator[str]:
    for position in range(len(word) + 1):
        before, after = word[:position], word[position:]
        yield from (before + letter + after for letter in letters)
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in letters)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]


def _is_domain(text: str) -> bool:
    labels = text.split(".")
    return len(labels) > 1 and all(label and label.strip("-") == label for label in labels)
