"""A strict JSON parser: nothing that two parsers could read differently.

Python's accepts duplicate fields, NaN and lone surrogates, and fails on deep nesting.
"""

import json
import re
from typing import NoReturn

MAX_DEPTH = 32

# Without the optional quote, unterminated strings take quadratic time.
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKETS = re.compile(r"[\[\]{}]")


class InvalidJSON(Exception):
    """The message is for the caller."""


def parse_json(body: bytes) -> object:
    if not body.strip(b" \t\r\n"):
        raise InvalidJSON("The body is empty.")
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise InvalidJSON("The body is not valid UTF-8.") from None
    _refuse_deep_nesting(text)
    try:
        document: object = _decoder.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidJSON(f"The body is not valid JSON: syntax error at {place}.") from None
    if "\\u" in text:
        try:
            json.dumps(document, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InvalidJSON("A string in the body contains an unpaired surrogate.") from None
    return document


def _refuse_deep_nesting(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise InvalidJSON(f"The body is nested more than {MAX_DEPTH} levels deep.")


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise InvalidJSON("An object in the body has the same field twice.")
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidJSON(f"{name} is not valid JSON.")


def _parse_int(digits: str) -> int | float:
    """Parse huge integers as floats: orjson raises TypeError for those of more than 64 bits."""
    return int(digits) if len(digits) < 20 else float(digits)


_decoder = json.JSONDecoder(
    object_pairs_hook=_build_object, parse_constant=_refuse_constant, parse_int=_parse_int
)
