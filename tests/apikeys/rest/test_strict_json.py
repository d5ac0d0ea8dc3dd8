import time
from typing import Any

import orjson
import pytest

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
