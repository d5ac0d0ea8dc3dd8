from io import BytesIO

import pytest

from config.wsgi import Request

FORM = b"""--x\r
Content-Disposition: form-data; name="login"\r
\r
\\ud800@shop.example\r
--x--\r
"""
# Some decode to lone surrogates, which can be neither hashed nor stored. Some encode no text.
CHARSETS = (
    *("unicode_escape", "utf-7", "utf-16", "no-such-charset", "undefined", "idna", "punycode"),
    *("rot13", "hex", "base64", "zlib", "bz2", "uu", "quopri", "a\0b"),
)


@pytest.mark.parametrize("charset", CHARSETS)
def test_form_and_query_are_always_read_as_utf_8(charset: str) -> None:
    request = Request(
        {
            "REQUEST_METHOD": "POST",
            "QUERY_STRING": "q=%C3%A4",
            "CONTENT_TYPE": f"multipart/form-data; boundary=x; charset={charset}",
            "CONTENT_LENGTH": str(len(FORM)),
            "wsgi.input": BytesIO(FORM),
        }
    )
    assert request.POST["login"] == "\\ud800@shop.example"
    assert request.GET["q"] == "ä"
