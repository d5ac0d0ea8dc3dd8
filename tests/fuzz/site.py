"""Every address of the URL table, so that no new page is forgotten, and the forms behind them."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, quote, quote_from_bytes, urlsplit

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

# The API and the files have targets of their own.
ELSEWHERE = ("^v1", "admin/(?P<url>", "favicon.ico")
FORM = "application/x-www-form-urlencoded"
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)")
_LINK = re.compile(r'(?:href|action)="([^"]*\?[^"]*)"')


def templates() -> Iterator[str]:
    """`/apikeys/<public_id:key_id>/change/`"""
    stack: list[tuple[str, Any]] = [("", get_resolver())]
    while stack:
        before, resolver = stack.pop()
        for pattern in resolver.url_patterns:
            whole = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                stack.append((whole, pattern))
            elif isinstance(pattern, URLPattern) and not whole.startswith(ELSEWHERE):
                yield "/" + re.sub(r"\^|\$$", "", whole)


def path_of(template: str, ids: dict[str, Any], odd: str = "") -> str:
    """With `odd` in each place for which there is no id."""

    def chosen(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return quote(str(ids.get(name, odd or "none")), safe="", errors="surrogatepass")

    return _PARAMETER.sub(chosen, template)


def is_of_staff(template: str) -> bool:
    return template.startswith("/admin/")


def encoded(fields: dict[str, str]) -> str:
    """As an HTTP client can send it, who is free to send what is no text."""
    return "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in fields.items())


def _quoted(text: str) -> str:
    return quote_from_bytes(text.encode("utf-8", "surrogatepass"))


def send(client: Client, path: str, fields: dict[str, str]) -> Any:
    return client.generic("POST", path, encoded(fields), content_type=FORM)


def query_names(page: str) -> set[str]:
    """What the page's own links have behind their question marks."""
    links = [unescape(link) for link in _LINK.findall(page)]
    return {name for link in links for name, _ in parse_qsl(urlsplit(link).query)}
