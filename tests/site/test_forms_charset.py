from io import BytesIO

import pytest

from config.wsgi import Request

FORM = b"""--x\r
Content-Disposition: form-data; name="login"\r
\r
\\ud800@shop.example\r
--x--\r
"""


@pytest.mark.parametrize("charset", ["unicode_escape", "utf-7", "utf-16", "no-such-charset"])
def test_form_is_always_read_as_utf_8(charset: str) -> None:
    """Some charsets decode to lone surrogates, which can be neither hashed nor stored."""
    request = Request(
        {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": f"multipart/form-data; boundary=x; charset={charset}",
            "CONTENT_LENGTH": str(len(FORM)),
            "wsgi.input": BytesIO(FORM),
        }
    )
    assert request.POST["login"] == "\\ud800@shop.example"
