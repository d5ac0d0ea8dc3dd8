"""Any bytes as a request's body: read as two other readers read them, or refused."""

import json
import math
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import strategies as st

from apikeys.rest.strict_json import DEEPEST, InvalidJSON, parse_json
from tests.fuzz.effort import explore
from tests.fuzz.texts import ODD_CHARACTERS

pytestmark = pytest.mark.anywhere


class Written(NamedTuple):
    """A document of which it is known what is wrong with it."""

    text: str
    depth: int = 0
    is_clean: bool = True


space = st.sampled_from(["", "", " ", "\n\t", "\r\n "])
texts = st.text(st.sampled_from(ODD_CHARACTERS), max_size=8)
numbers = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["1e400", "-0", "0.0e-9", "9" * 1200]),
)
names = st.sampled_from(["email", "a", "", "b", "é"])


def _string(text: str, escaped: bool) -> Written:
    halves = [one for one in text if "\ud800" <= one <= "\udfff"]
    # A high half before a low one is one whole character.
    is_clean = not halves or (escaped and _is_text(json.loads(json.dumps(text))))
    return Written(json.dumps(text, ensure_ascii=escaped), 0, is_clean)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _list(parts: list[Written], gap: str) -> Written:
    text = f"[{gap}{f',{gap}'.join(part.text for part in parts)}]"
    return _around(text, parts)


def _object(fields: list[tuple[str, bool, Written]], gap: str) -> Written:
    pairs = [f"{_name(name, odd)}{gap}:{gap}{part.text}" for name, odd, part in fields]
    written = _around("{" + ",".join(pairs) + "}", [part for _, _, part in fields])
    is_unique = len({name for name, _, _ in fields}) == len(fields)
    return written._replace(is_clean=written.is_clean and is_unique)


def _name(name: str, escaped: bool) -> str:
    if escaped:
        return '"' + "".join(f"\\u{ord(one):04x}" for one in name) + '"'
    return json.dumps(name, ensure_ascii=False)


def _around(text: str, parts: list[Written]) -> Written:
    depth = 1 + max((part.depth for part in parts), default=0)
    return Written(text, depth, all(part.is_clean for part in parts))


def _nested(inner: Written, times: int, is_list: bool) -> Written:
    before, after = ("[", "]") if is_list else ('{"a":', "}")
    return Written(before * times + inner.text + after * times, inner.depth + times, inner.is_clean)


simple = st.one_of(
    st.sampled_from(["null", "true", "false", '"\\ud83d\\ude00"', '"a\\u0000"']).map(Written),
    st.sampled_from(["NaN", "Infinity", "01", "'a'", "tru", '"\\x"', "1.", '"\t"']).map(
        lambda text: Written(text, 0, False)
    ),
    numbers.map(Written),
    st.builds(_string, texts, st.booleans()),
)
documents = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(_list, st.lists(inner, min_size=1, max_size=3), space),
        st.builds(_object, st.lists(st.tuples(names, st.booleans(), inner), max_size=3), space),
        st.builds(_nested, inner, st.sampled_from([1, 2, 30, 31, 32, 33, 900]), st.booleans()),
    ),
    max_leaves=6,
)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    if isinstance(one, int | float) and isinstance(other, int | float):
        is_like = math.isclose(_float(one), _float(other), rel_tol=1e-12)
        return is_like and isinstance(one, bool) is isinstance(other, bool)
    return type(one) is type(other) and bool(one == other)


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def test_a_clean_document_is_read_and_no_other() -> None:
    def any_document(written: Written, before: str, after: str) -> None:
        body = (before + written.text + after).encode("utf-8", "surrogatepass")
        if written.is_clean and written.depth <= DEEPEST:
            assert same(parse_json(body), json.loads(body, parse_int=float))
        else:
            with pytest.raises(InvalidJSON):
                parse_json(body)

    explore(any_document, quick=60, written=documents, before=space, after=space)


def test_what_is_read_two_other_readers_read_alike() -> None:
    def any_bytes(written: Written, place: int, put: bytes, cut: int) -> None:
        whole = written.text.encode("utf-8", "surrogatepass")
        start = place % (len(whole) + 1)
        body = (whole[:start] + put + whole[start + cut :])[:8192]
        try:
            ours = parse_json(body)
        except InvalidJSON as error:
            assert str(error).endswith(".")
            return
        assert same(ours, json.loads(body, parse_int=float))
        try:
            theirs = orjson.loads(body)
        except orjson.JSONDecodeError:
            # It knows no number that is larger than its own.
            assert _has_large_number(ours)
        else:
            assert same(ours, theirs)

    explore(
        any_bytes,
        quick=70,
        written=documents,
        place=st.integers(0, 8192),
        put=st.one_of(
            st.binary(max_size=3), st.sampled_from([b'"', b"\\", b"[", b"}", b",", b"e"])
        ),
        cut=st.integers(0, 3),
    )


def _has_large_number(document: Any) -> bool:
    if isinstance(document, dict):
        return any(map(_has_large_number, document.values()))
    if isinstance(document, list):
        return any(map(_has_large_number, document))
    return isinstance(document, int | float) and abs(document) > 2**63
