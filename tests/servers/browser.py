"""A browser without a screen: it keeps cookies and sends forms with their token."""

import re
from http.cookiejar import CookieJar
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener


class PlainBrowser:
    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def get(self, path: str) -> str:
        with self._opener.open(self.base_url + path, timeout=20) as answer:
            return str(answer.read().decode())

    def send(self, path: str, **fields: str) -> str:
        """Opens the page first, for the form's token; follows where the answer leads."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.get(path))
        assert token, f"There is no form at {path}."
        body = urlencode({"csrfmiddlewaretoken": token[1], **fields}).encode()
        with self._opener.open(self.base_url + path, body, timeout=20) as answer:
            return str(answer.read().decode())
