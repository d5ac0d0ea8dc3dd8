"""Any bytes as a request's body are refused, or parsed as by two other JSON parsers."""

import json
import math
from typing import Any

import orjson
import pytest
from hypothesis import strategies as st

from apikeys.rest.strict_json import InvalidJSON, parse_json
from tests.fuzz.exploration import explore
from tests.fuzz.texts import ODD_CHARACTERS

pytestmark = pytest.mark.anywhere

texts = st.text(st.sampled_from(ODD_CHARACTERS), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
documents = st.one_of(
    st.builds(json.dumps, values, ensure_ascii=st.booleans(), indent=st.sampled_from([None, 1])),
    st.builds(
        lambda opening, closing, times: opening * times + "1" + closing * times,
        *(st.sampled_from(["[", '{"a":']), st.sampled_from(["]", "}"])),
        st.sampled_from([1, 2, 31, 32, 33, 900]),
    ),
    st.sampled_from(
        ["1e400", "-0", "0.0e-9", "9" * 1200, '{"a": 1, "\\u0061": 2}', '"\\ud83d\\ude00"']
    ),
)


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(is_same(one[name], other[name]) for name in one)
    if isinstance(one, int | float) and isinstance(other, int | float):
        is_like = math.isclose(_float(one), _float(other), rel_tol=1e-12)
        return is_like and isinstance(one, bool) is isinstance(other, bool)
    return type(one) is type(other) and bool(one == other)


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def test_parsed_json_matches_two_other_parsers() -> None:
    def any_bytes(document: str, position: int, inserted: bytes, removed: int) -> None:
        text = document.encode("utf-8", "surrogatepass")
        start = position % (len(text) + 1)
        body = (text[:start] + inserted + text[start + removed :])[:8192]
        try:
            ours = parse_json(body)
        except InvalidJSON as error:
            assert str(error).endswith(".")
            return
        assert is_same(ours, json.loads(body, parse_int=float))
        try:
            library = orjson.loads(body)
        except orjson.JSONDecodeError:
            # orjson refuses integers of more than 64 bits.
            assert _has_large_number(ours)
        else:
            assert is_same(ours, library)

    explore(
        any_bytes,
        quick=70,
        document=documents,
        position=st.integers(0, 8192),
        inserted=st.one_of(
            st.binary(max_size=3), st.sampled_from([b'"', b"\\", b"[", b"}", b",", b"e"])
        ),
        removed=st.integers(0, 3),
    )


def _has_large_number(document: Any) -> bool:
    if isinstance(document, dict):
        return any(map(_has_large_number, document.values()))
    if isinstance(document, list):
        return any(map(_has_large_number, document))
    return isinstance(document, int | float) and abs(document) > 2**63
