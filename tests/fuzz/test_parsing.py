"""Any bytes as a request's body are refused, or parsed as by two other JSON parsers."""

import json
import math
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import strategies as st

from apikeys.rest.strict_json import MAX_DEPTH, InvalidJSON, parse_json
from tests.fuzz.exploration import explore
from tests.fuzz.texts import ODD_CHARACTERS

pytestmark = pytest.mark.anywhere


class GeneratedJson(NamedTuple):
    """JSON text with its depth, and whether it is valid."""

    text: str
    depth: int = 0
    is_valid: bool = True


space = st.sampled_from(["", "", " ", "\n\t", "\r\n "])
texts = st.text(st.sampled_from(ODD_CHARACTERS), max_size=8)
numbers = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["1e400", "-0", "0.0e-9", "9" * 1200]),
)
names = st.sampled_from(["email", "a", "", "b", "é"])


def _string(text: str, escaped: bool) -> GeneratedJson:
    surrogates = [character for character in text if "\ud800" <= character <= "\udfff"]
    # When escaped, a high surrogate before a low one is a valid character.
    is_valid = not surrogates or (escaped and _is_text(json.loads(json.dumps(text))))
    return GeneratedJson(json.dumps(text, ensure_ascii=escaped), 0, is_valid)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _list(parts: list[GeneratedJson], gap: str) -> GeneratedJson:
    text = f"[{gap}{f',{gap}'.join(part.text for part in parts)}]"
    return _wrap(text, parts)


def _object(fields: list[tuple[str, bool, GeneratedJson]], gap: str) -> GeneratedJson:
    pairs = [f"{_name(name, odd)}{gap}:{gap}{part.text}" for name, odd, part in fields]
    generated = _wrap("{" + ",".join(pairs) + "}", [part for _, _, part in fields])
    is_unique = len({name for name, _, _ in fields}) == len(fields)
    return generated._replace(is_valid=generated.is_valid and is_unique)


def _name(name: str, escaped: bool) -> str:
    if escaped:
        return '"' + "".join(f"\\u{ord(character):04x}" for character in name) + '"'
    return json.dumps(name, ensure_ascii=False)


def _wrap(text: str, parts: list[GeneratedJson]) -> GeneratedJson:
    depth = 1 + max((part.depth for part in parts), default=0)
    return GeneratedJson(text, depth, all(part.is_valid for part in parts))


def _nest(inner: GeneratedJson, times: int, is_list: bool) -> GeneratedJson:
    before, after = ("[", "]") if is_list else ('{"a":', "}")
    return GeneratedJson(
        before * times + inner.text + after * times, inner.depth + times, inner.is_valid
    )


simple = st.one_of(
    st.sampled_from(["null", "true", "false", '"\\ud83d\\ude00"', '"a\\u0000"']).map(GeneratedJson),
    st.sampled_from(["NaN", "Infinity", "01", "'a'", "tru", '"\\x"', "1.", '"\t"']).map(
        lambda text: GeneratedJson(text, 0, False)
    ),
    numbers.map(GeneratedJson),
    st.builds(_string, texts, st.booleans()),
)
documents = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(_list, st.lists(inner, min_size=1, max_size=3), space),
        st.builds(_object, st.lists(st.tuples(names, st.booleans(), inner), max_size=3), space),
        st.builds(_nest, inner, st.sampled_from([1, 2, 30, 31, 32, 33, 900]), st.booleans()),
    ),
    max_leaves=6,
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


def test_only_valid_json_is_parsed() -> None:
    def any_document(generated: GeneratedJson, before: str, after: str) -> None:
        body = (before + generated.text + after).encode("utf-8", "surrogatepass")
        if generated.is_valid and generated.depth <= MAX_DEPTH:
            assert is_same(parse_json(body), json.loads(body, parse_int=float))
        else:
            with pytest.raises(InvalidJSON):
                parse_json(body)

    explore(any_document, quick=60, generated=documents, before=space, after=space)


def test_parsed_json_matches_two_other_parsers() -> None:
    def any_bytes(generated: GeneratedJson, position: int, inserted: bytes, removed: int) -> None:
        text = generated.text.encode("utf-8", "surrogatepass")
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
        generated=documents,
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
