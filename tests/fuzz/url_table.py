"""List every path of the URL configuration, so that new pages are covered automatically."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, quote, quote_from_bytes, urlsplit

from django.test import Client

from tests.support.pages import PLACEHOLDER, all_pages

# The API has its own targets, and files need none. Staff pages: tests/accounts/staff/test_admin.py.
EXCLUDED = ("^v1", "admin/", "favicon.ico")
FORM = "application/x-www-form-urlencoded"
_LINK = re.compile(r'(?:href|action)="([^"]*\?[^"]*)"')


def path_templates() -> Iterator[str]:
    """Yield templates such as `/apikeys/<public_id:key_id>/change/`."""
    for route in all_pages():
        if not route.startswith(EXCLUDED):
            yield "/" + re.sub(r"\^|\$$", "", route)


def fill_path(template: str, ids: dict[str, Any], odd: str = "") -> str:
    """Fill in the parameters, with `odd` for those without an ID."""

    def choose_value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return quote(str(ids.get(name, odd or "none")), safe="", errors="surrogatepass")

    return PLACEHOLDER.sub(choose_value, template)


def encode_fields(fields: dict[str, str]) -> str:
    """Encode fields, including lone surrogates: HTTP clients may send invalid UTF-8."""
    return "&".join(f"{_quote(name)}={_quote(value)}" for name, value in fields.items())


def _quote(text: str) -> str:
    return quote_from_bytes(text.encode("utf-8", "surrogatepass"))


def send(client: Client, path: str, fields: dict[str, str]) -> Any:
    return client.generic("POST", path, encode_fields(fields), content_type=FORM)


def find_query_names(page: str) -> set[str]:
    """Return the query parameters used in the page's links."""
    links = [unescape(link) for link in _LINK.findall(page)]
    return {name for link in links for name, _ in parse_qsl(urlsplit(link).query)}
