"""Color code, with classes, as the CSP forbids inline styles."""

import re
from functools import lru_cache

from django import template
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight as pygmentize
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name

register = template.Library()

# Longer texts would delay a page.
MAX_COLORED = 20_000
LEXERS = {"curl": "bash"}
# Pygments takes what follows headers for a body, so color each response alone.
RESPONSES = re.compile(r"^(?=HTTP/)", re.MULTILINE)
# Classes without a color.
PLAIN = re.compile(r'<span class="(?:w|p|n|nx|o)">([^<]*)</span>')


@register.filter
@lru_cache(maxsize=256)
def highlight(code: str, language: str) -> SafeString:
    """Color and cache a text that is the same for all users."""
    return highlight_private(code, language)


@register.filter
def highlight_private(code: str, language: str) -> SafeString:
    """Color a text without caching it: it may contain an address."""
    name = LEXERS.get(language, language) if len(code) <= MAX_COLORED else "text"
    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    parts = RESPONSES.split(code) if name == "http" else [code]
    colored = "".join(pygmentize(part, lexer, HtmlFormatter(nowrap=True)) for part in parts)
    if not code.endswith("\n"):
        colored = colored.removesuffix("\n")
    return mark_safe(PLAIN.sub(r"\1", colored))  # noqa: S308
