"""A minimal browser that keeps cookies and sends forms with their CSRF token."""

import re
from http.cookiejar import CookieJar
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener


class PlainBrowser:
    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def get(self, path: str) -> str:
        with self._opener.open(self.base_url + path, timeout=20) as response:
            return str(response.read().decode())

    def send(self, path: str, form_page: str = "", **fields: str) -> str:
        """Load the form's page for its CSRF token, send the form and follow redirects."""
        page = self.get(form_page or path)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token, f"There is no form at {form_page or path}."
        body = urlencode({"csrfmiddlewaretoken": token[1], **fields}).encode()
        with self._opener.open(self.base_url + path, body, timeout=20) as response:
            return str(response.read().decode())
