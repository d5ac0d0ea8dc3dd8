import re
from collections.abc import Iterable
from dataclasses import dataclass

from reference.docs.markdown import remove_code_blocks, split_sections, to_plain_text

MAX_QUERY_LENGTH = 100
_MAX_TERMS = 8
_EXCERPT_LENGTH = 160
# How much of an excerpt precedes the first term.
_LEAD = 60

# Left out of the index: such a list would hide what a section is about.
_ERROR_LIST = re.compile(r"^- \d{3} \[`.*\n", re.MULTILINE)
# Fields, headers or codes that a table or definition list describes.
_NAME = re.compile(r"^(?:\| \[?`(.*?)`|`(.*?)`.*\n: )", re.MULTILINE)


@dataclass(frozen=True)
class SearchEntry:
    url: str
    page: str
    section: str
    names: tuple[str, ...]
    text: str

    @property
    def title(self) -> str:
        return self.section or self.page


def index_page(url: str, title: str, summary: str, contents: str) -> list[SearchEntry]:
    entries = [SearchEntry(url, title, "", (), summary)]
    for section in split_sections(contents)[1]:
        text = _ERROR_LIST.sub("", remove_code_blocks(section.text))
        names = dict.fromkeys(first or second for first, second in _NAME.findall(text))
        entries.append(
            SearchEntry(
                f"{url}#{section.id}", title, section.plain_title, tuple(names), to_plain_text(text)
            )
        )
    return entries


def search(entries: Iterable[SearchEntry], query: str) -> list[tuple[SearchEntry, str]]:
    """Return entries with every word of the query, best first, each with an excerpt."""
    phrase = " ".join(query[:MAX_QUERY_LENGTH].lower().split())
    terms = phrase.split()[:_MAX_TERMS]
    found = []
    for entry in entries:
        scores = [_term_score(entry, term) for term in terms]
        if terms and all(scores):
            found.append((sum(scores) + 100 * (entry.title.lower() == phrase), entry))
    found.sort(key=lambda pair: -pair[0])
    return [(entry, _excerpt(entry.text, terms[0])) for _, entry in found]


def _term_score(entry: SearchEntry, term: str) -> int:
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
        start = text.find(" ", start) + 1
    part = text[start : start + _EXCERPT_LENGTH]
    if start + _EXCERPT_LENGTH < len(text):
        part = part.rpartition(" ")[0] + " …"
    return f"… {part}" if start else part
