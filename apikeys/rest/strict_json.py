"""A request's body: exactly one JSON document, with nothing in it that two readers could read
differently. Pure.

Python's own reader takes duplicate fields, NaN and lone surrogates, and gives up on deep nesting
with an error of another kind; Django REST framework's lets all of these through.
"""

import json
import re
from typing import Any, NoReturn

DEEPEST = 32

# Also one that never ends: looking for its end again from each quote would take quadratic time.
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKETS = re.compile(r"[\[\]{}]")


class InvalidJSON(Exception):
    """The text says why, for the developer who sent it."""


def parse_json(body: bytes) -> Any:
    if not body.strip(b" \t\r\n"):
        raise InvalidJSON("The body is empty.")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise InvalidJSON("The body is not valid UTF-8.") from None
    _refuse_depth(text)
    try:
        document = _decoder.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidJSON(f"The body is not JSON: something is wrong at {place}.") from None
    if "\\u" in text:
        _refuse_lone_surrogates(document)
    return document


def _refuse_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > DEEPEST:
            raise InvalidJSON(f"The body is nested deeper than {DEEPEST} levels.")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise InvalidJSON("An object of the body has the same field twice.")
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidJSON(f"{name} is not JSON.")


def _number(digits: str) -> int | float:
    """Python refuses to read integers of thousands of digits; as a float they are merely large."""
    return int(digits) if len(digits) < 1000 else float(digits)


_decoder = json.JSONDecoder(
    object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant, parse_int=_number
)


def _refuse_lone_surrogates(document: Any) -> None:
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidJSON("A string of the body holds half a surrogate pair.") from None
