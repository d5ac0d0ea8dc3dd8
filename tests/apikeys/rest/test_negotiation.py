import pytest

from apikeys.errors import ApiError
from apikeys.rest.negotiation import accepts_json, check_media_type


def refusal_code(content_type: str, **headers: str) -> str | None:
    try:
        check_media_type({"CONTENT_TYPE": content_type, **headers})
    except ApiError as refusal:
        return refusal.code
    return None


ACCEPTS = [
    *("", "  ", "*/*", "application/*", "application/json", "APPLICATION/JSON"),
    *("application/json; charset=utf-8", "text/html, application/json", "text/html,*/*;q=0.1"),
    *("application/json;q=0.001", "text/html;q=0, application/json", "*/*;q=0, application/json"),
    *("application/json, */*;q=0", "application/*, */*;q=0.0", ",,application/json,"),
]
EXCLUDES = [
    *("text/html", "application/xml", "application/json;q=0", "application/json; q=0.000"),
    *("application/json;q=0, */*", "*/*;q=0", "application/*;q=0, */*", "json", ";", "/", "a/b/c"),
    "text/*",
]


@pytest.mark.parametrize(
    ("accept", "includes_json"),
    [*((accept, True) for accept in ACCEPTS), *((accept, False) for accept in EXCLUDES)],
)
def test_accept_header_must_include_json(accept: str, includes_json: bool) -> None:
    assert accepts_json(accept) is includes_json


@pytest.mark.parametrize(
    "content_type",
    [
        *("application/json", "Application/JSON", "application/json; charset=utf-8"),
        *('application/json; charset="UTF-8"', "application/json;charset=UTF8;x=y"),
        *("application/json;", "application/json; x*=bogus'en'%41"),
    ],
)
def test_json_in_utf_8_is_accepted(content_type: str) -> None:
    assert refusal_code(content_type) is None


@pytest.mark.parametrize(
    "content_type",
    [
        *("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
        *("application/problem+json", "application", "application/json, text/plain", "\x00", "é"),
    ],
)
def test_other_media_type_is_refused(content_type: str) -> None:
    assert refusal_code(content_type) == "unsupported_media_type"


@pytest.mark.parametrize(
    "charset", ["latin-1", "utf-16", "utf-7", "bogus", "", "utf-8, utf-8", "utf-8; charset=latin-1"]
)
def test_other_charset_is_invalid_json(charset: str) -> None:
    assert refusal_code(f"application/json; charset={charset}") == "invalid_json"


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate, gzip", "x"])
def test_compressed_body_is_refused(coding: str) -> None:
    refused = refusal_code("application/json", HTTP_CONTENT_ENCODING=coding)
    assert refused == "unsupported_media_type"
