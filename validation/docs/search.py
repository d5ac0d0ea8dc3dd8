"""Search the docs with an index of their pages and sections.

static/js/search.js ranks the same index in the browser: keep both alike. Pure.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from typing import NamedTuple

from django.utils.html import strip_tags

MAX_QUERY_LENGTH = 100
_MAX_TERMS = 8
_EXCERPT_LENGTH = 160
# How many characters of an excerpt come before the first term.
_LEAD = 60

_SECTION = re.compile(
    r'<section id="(?P<id>[\w.-]+)" class="docs-entry">\s*<h2>(?P<title>.*?)</h2>'
    r"(?P<body>.*?)</section>",
    re.DOTALL,
)
# Code samples, buttons, and the errors of each operation would hide what a section is about.
_IGNORED = re.compile(
    r'<(figure|button|svg)\b.*?</\1>|<ul class="docs-error-codes">.*?</ul>', re.DOTALL
)
_BLOCK_END = re.compile(r"</(?:p|li|td|th|dt|dd|h3|summary)>")
# The fields, headers or codes that a list or table describes.
_NAME = re.compile(r"(?:<dt>|<tr>\s*<td[^>]*>)\s*(?:<a[^>]*>)?<code>(.*?)</code>")


@dataclass(frozen=True)
class Entry:
    """A section, or a page with its summary if `section` is empty."""

    url: str
    page: str
    section: str
    names: tuple[str, ...]
    text: str

    @property
    def title(self) -> str:
        return self.section or self.page


class Result(NamedTuple):
    entry: Entry
    excerpt: str


def index_page(url: str, title: str, summary: str, content: str) -> list[Entry]:
    """Return an entry for the page, followed by one for each section of its HTML."""
    entries = [Entry(url, title, "", (), summary)]
    for section in _SECTION.finditer(content):
        body = _IGNORED.sub("", section["body"])
        names = dict.fromkeys(_plain_text(name) for name in _NAME.findall(body))
        entries.append(
            Entry(
                f"{url}#{section['id']}",
                title,
                _plain_text(section["title"]),
                tuple(names),
                _plain_text(body),
            )
        )
    return entries


def _plain_text(html: str) -> str:
    return " ".join(unescape(strip_tags(_BLOCK_END.sub(r" \g<0>", html))).split())


def search(entries: Iterable[Entry], query: str) -> list[Result]:
    """Return the entries that contain every word of the query, best first."""
    phrase = " ".join(query[:MAX_QUERY_LENGTH].lower().split())
    terms = phrase.split()[:_MAX_TERMS]
    scores = [(_score(entry, phrase, terms), entry) for entry in entries] if terms else []
    found = sorted((pair for pair in scores if pair[0]), key=lambda pair: -pair[0])
    return [Result(entry, _excerpt(entry.text, terms[0])) for _, entry in found]


def _score(entry: Entry, phrase: str, terms: list[str]) -> int:
    scores = [_term_score(entry, term) for term in terms]
    if not all(scores):
        return 0
    return sum(scores) + (100 if entry.title.lower() == phrase else 0)


def _term_score(entry: Entry, term: str) -> int:
    names = [name.lower() for name in entry.names]
    levels = (
        (60, not entry.section and term in entry.page.lower()),
        (50, term in names),
        (20, term in entry.title.lower()),
        (10, any(term in name for name in names)),
        (5, term in entry.page.lower()),
        (1, term in entry.text.lower()),
    )
    return next((points for points, is_match in levels if is_match), 0)


def _excerpt(text: str, term: str) -> str:
    start = max(0, text.lower().find(term) - _LEAD)
    if start:
        # Begin with a whole word.
        start = text.find(" ", start) + 1
    part = text[start : start + _EXCERPT_LENGTH]
    if start + _EXCERPT_LENGTH < len(text):
        part = part.rpartition(" ")[0] + " …"
    return f"… {part}" if start else part
