import time
from typing import Any

import orjson
import pytest
from django.test import RequestFactory
from rest_framework.request import Request

from apikeys.errors import ApiError
from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from apikeys.rest.strict_json import InvalidJSON, parse_json

NOT_JSON = {
    "nothing": b"",
    "only space": b" \n\t",
    "cut": b'{"email": "jane@',
    "two documents": b'{"email": "a"} {"email": "b"}',
    "words after it": b'{"email": "a"}x',
    "single quotes": b"{'email': 'a'}",
    "trailing comma": b'{"email": "a",}',
    "comment": b'{"email": "a"} // hello',
    "duplicate field": b'{"email": "a", "email": "b"}',
    "duplicate field, escaped": b'{"email": "a", "\\u0065mail": "b"}',
    "duplicate field, deep": b'{"email": [{"a": 1, "a": 2}]}',
    "NaN": b'{"email": NaN}',
    "Infinity": b"[Infinity]",
    "minus Infinity": b"[-Infinity]",
    "lone high surrogate": b'{"email": "\\ud800"}',
    "lone low surrogate": b'{"email": "\\uDC00x"}',
    "surrogates the wrong way round": b'"\\udc00\\ud800"',
    "a surrogate as a field's name": b'{"\\ud800": 1}',
    "latin-1": '{"email": "jäne"}'.encode("latin-1"),
    "utf-16": '{"email": "a"}'.encode("utf-16"),
    "surrogates as bytes": b'"\xed\xa0\x80"',
    "overlong bytes": b'"\xc0\xaf"',
    "byte order mark": b'\xef\xbb\xbf{"email": "a"}',
    "raw control character": b'"a\x00b"',
    "raw line end": b'"a\nb"',
    "unknown escape": b'"\\x41"',
    "leading zero": b"01",
    "hexadecimal": b"0x1f",
    "bare word": b"email",
    "33 levels": b"[" * 33 + b"]" * 33,
    "1,000 levels": b"[" * 1000,
    "8,000 levels of objects": b'{"a":' * 1600,
    "closed before it opened": b"}" + b"{" * 40,
}
JSON: dict[str, tuple[bytes, Any]] = {
    "an object": (b'{"email": "a"}', {"email": "a"}),
    "with space around": (b'\r\n\t {"email": "a"} \n', {"email": "a"}),
    "a string": (b'"a"', "a"),
    "null": (b"null", None),
    "an unpaired surrogate": (b'"\\ud83d\\ude00"', "\N{GRINNING FACE}"),
    "an escaped NUL": (b'"a\\u0000b"', "a\0b"),
    "an escaped backslash before ud800": (b'"\\\\ud800"', "\\ud800"),
    "32 levels": (b"[" * 32 + b"]" * 32, None),
    "brackets inside a string": (b'"' + b"[{" * 100 + b'"', "[{" * 100),
    "a float that is too large": (b"1e999", float("inf")),
}


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON)
def test_invalid_or_ambiguous_json_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidJSON) as refusal:
        parse_json(body)
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize(("body", "document"), JSON.values(), ids=JSON)
def test_valid_json_is_parsed(body: bytes, document: Any) -> None:
    parsed = parse_json(body)
    assert document is None or parsed == document


def test_number_of_five_thousand_digits_is_parsed() -> None:
    assert parse_json(b'{"email": ' + b"9" * 5000 + b"}") == {"email": float("inf")}


@pytest.mark.parametrize("number", [10**18, 10**19, 2**64, -(10**18), -(2**63), -(2**64)])
def test_every_number_can_be_rendered_again(number: int) -> None:
    parsed = parse_json(b"%d" % number)
    assert orjson.loads(orjson.dumps(parsed)) == parsed == float(number)


@pytest.mark.parametrize("piece", [b"[", b'{"a":', b'"\\', b'"', b"{}", b"\\u", b'["'])
def test_eight_kilobytes_of_any_repeated_token_are_refused(piece: bytes) -> None:
    with pytest.raises(InvalidJSON):
        parse_json((piece * 8192)[:8192])


def test_parsing_takes_linear_time() -> None:
    """Compare a ratio: eight times the input takes far less than 64 times as long.

    The garbage of all earlier tests may be collected during one measurement.
    """

    def seconds(quotes: int) -> float:
        body = b"[" * 33 + b'\\"' * quotes
        started = time.process_time()
        for _ in range(5):
            with pytest.raises(InvalidJSON):
                parse_json(body)
        return time.process_time() - started

    assert min(seconds(32_000) for _ in range(3)) < 40 * min(seconds(4_000) for _ in range(3))


class OrderSerializer(ApiSerializer):
    size = fields.Choice("", ["small", "large"])
    note = fields.String("", required=False, allow_null=True, max_length=5)
    count = fields.Integer("", required=False, min_value=1, max_value=9, source="quantity")
    is_gift = fields.Boolean("", required=False)
    tags = fields.Strings("", required=False, min_length=1, max_length=2)
    labels = fields.StringMap("", required=False)


def parse_query(query: str) -> dict[str, Any]:
    return OrderSerializer.parse_query(Request(RequestFactory().get(f"/?{query}")))


def test_parsed_document_has_what_was_sent() -> None:
    sent = {"size": "small", "note": " é ", "count": 9, "is_gift": False, "tags": ["a"]}
    parsed = {"size": "small", "note": " é ", "quantity": 9, "is_gift": False, "tags": ["a"]}
    assert OrderSerializer.parse({**sent, "labels": {"a": ""}}) == {**parsed, "labels": {"a": ""}}
    assert OrderSerializer.parse({"size": "large", "note": None}) == {"size": "large", "note": None}


@pytest.mark.parametrize(
    ("param", "value"),
    [
        *(("size", value) for value in ("Small", None, ["small"])),
        *(("note", value) for value in (5, "123456")),
        *(("count", value) for value in ("5", 5.0, True, float("inf"), 10, None)),
        *(("is_gift", value) for value in (1, "true")),
        *(("tags", "ab"), ("tags", [])),
        *(("tags[1]", ["a", 1]), ("labels", {"a": 1})),
    ],
)
def test_value_of_another_type_or_size_is_refused(param: str, value: object) -> None:
    with pytest.raises(ApiError) as refused:
        OrderSerializer.parse({"size": "small", param.partition("[")[0]: value})
    assert (refused.value.code, refused.value.param) == ("invalid_field", param)
    assert refused.value.message.startswith(f"{param} must be ")


@pytest.mark.parametrize(
    ("document", "code", "param"),
    [
        ({"count": 0, "other": 1}, "missing_field", "size"),
        ({"other": 1, "size": "small", "count": 0}, "invalid_field", "count"),
        ({"other": 1, "size": "small"}, "unknown_field", "other"),
    ],
)
def test_first_error_is_reported(document: dict[str, object], code: str, param: str) -> None:
    with pytest.raises(ApiError) as refused:
        OrderSerializer.parse(document)
    assert (refused.value.code, refused.value.param) == (code, param)


def test_query_is_parsed_from_its_texts() -> None:
    parsed = {"size": "small", "quantity": 5, "is_gift": True, "note": "5"}
    assert parse_query("size=small&count=05&is_gift=true&note=5") == parsed
    assert parse_query("unknown=1") == {}


@pytest.mark.parametrize(
    "query",
    [
        *("count=", "count=0", "count=10", "count=%2B5", "count=5.0", "count=%F0%9D%9F%9D"),
        *("is_gift=True", "is_gift=1", "size=medium", "size=small&size=small", "note=123456"),
    ],
)
def test_wrong_text_in_a_query_is_refused(query: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_query(query)
    assert (refused.value.code, refused.value.param) == ("invalid_field", query.partition("=")[0])
