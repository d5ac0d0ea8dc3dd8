"""Searching the docs: the index, the ranking, and the page that works without JavaScript."""

import re
from html import unescape

import pytest
from django.test import Client
from django.utils.html import strip_tags

from apikeys.errors import REFUSALS
from apikeys.rest import reference
from engine.verdicts.reasons import VERDICT_BY_REASON
from reference.docs.pages import PAGES
from reference.docs.search import MAX_QUERY_LENGTH, SearchEntry, index_page, search
from reference.docs.views import load_index

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.fixture
def entries() -> list[SearchEntry]:
    return load_index()


def find(entries: list[SearchEntry], query: str) -> list[str]:
    return [entry.url for entry, _ in search(entries, query)]


def test_every_page_is_found_by_its_title(entries: list[SearchEntry]) -> None:
    for page in PAGES:
        first = search(entries, page.title)[0][0]
        assert first.title == page.title
        assert f"/docs/{page.path}" in find(entries, page.title)[:3]


def test_every_section_is_found_by_its_title(entries: list[SearchEntry]) -> None:
    for page in PAGES:
        text = Client().get(f"/docs/{page.path}").content.decode()
        pattern = r'<section id="([\w.-]+)" class="docs-entry">\s*<h2>(.*?)</h2>'
        for section, title in re.findall(pattern, text, re.DOTALL):
            query = unescape(strip_tags(title))
            assert f"/docs/{page.path}#{section}" in find(entries, query)[:5], query


def test_error_code_leads_to_its_section(entries: list[SearchEntry]) -> None:
    for code in REFUSALS:
        assert find(entries, code)[0] == f"/docs/errors/#{code}"


def test_query_leads_to_the_section_that_explains_it(entries: list[SearchEntry]) -> None:
    for query, url in {
        "X-RateLimit-Remaining": "/docs/rate-limits/#headers",
        "retry-after": "/docs/rate-limits/#headers",
        "did_you_mean": "/docs/#answer",
        "mx.provider": "/docs/validate/#result",
        "retry loop": "/docs/rate-limits/#retry",
        "credits": "/docs/credits/",
        "rotate": "/docs/authentication/#rotate",
        "Price per month": "/docs/credits/#plans",
    }.items():
        assert find(entries, query)[0] == url, query


def test_every_header_and_reason_is_a_name_in_the_index(entries: list[SearchEntry]) -> None:
    names = {name for entry in entries for name in entry.names}
    assert names >= {header.path for header in reference.response_headers()}
    assert names >= {*VERDICT_BY_REASON, *REFUSALS}


def test_all_words_must_be_found(entries: list[SearchEntry]) -> None:
    assert find(entries, "idempotency script")
    assert find(entries, "idempotency xyzzy") == find(entries, "   ") == []


def test_index_has_no_code_samples_and_no_markup(entries: list[SearchEntry]) -> None:
    text = " ".join(entry.text for entry in entries)
    assert "urllib" not in text
    assert not re.search(r"</\w+>|class=|&\w+;", text)
    assert all(entry.text for entry in entries)


def test_section_is_indexed_with_the_names_it_describes() -> None:
    contents = """Before the first section.

## A & `b` {#a}

`one` *string*
:   First.

| Name | Other |
| --- | --- |
| [`two`](/docs/) | `no` |

- 400 [`bad_request`](/docs/errors/#bad_request)

```sh title="Terminal"
sample
```
"""
    page, section = index_page("/docs/x/", "X", "About X.", contents)
    assert page == SearchEntry("/docs/x/", "X", "", (), "About X.")
    text = "one string First. Name Other two no"
    assert section == SearchEntry("/docs/x/#a", "X", "A & b", ("one", "two"), text)


def test_excerpt_begins_and_ends_with_whole_words() -> None:
    entry = SearchEntry("/", "Page", "Section", (), "word " * 50 + "needle " + "word " * 50)
    ((_, excerpt),) = search([entry], "needle")
    assert excerpt.startswith("… word ")
    assert excerpt.endswith(" word …")
    assert " needle " in excerpt


def test_search_page_shows_results_with_page_and_section() -> None:
    page = Client().get("/docs/search/", {"q": "X-RateLimit-Remaining"}).content.decode()
    text = " ".join(strip_tags(page).split())
    assert '<a href="/docs/rate-limits/#headers">Rate limit headers</a>' in page
    assert "Rate limit headers Rate limits" in text
    assert 'value="X-RateLimit-Remaining"' in page


def test_search_page_without_results_says_so() -> None:
    for query, sentence in {
        "": "Enter a word, an error code such as",
        "xyzzy": "No results for “xyzzy”.",
        "<script>": "No results for “<script>”.",
        "a\x00b": "No results for",
        "x" * 5_000: "x" * MAX_QUERY_LENGTH + "”.",
    }.items():
        response = Client().get("/docs/search/", {"q": query})
        page = response.content.decode()
        assert response.status_code == 200
        assert sentence in " ".join(unescape(strip_tags(page)).split())
        assert "<script>" not in page
