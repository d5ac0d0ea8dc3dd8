"""The search page of the docs. static/js/search.js suggests its first results."""

import time
from functools import lru_cache

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reference.docs.page_context import render_contents
from reference.docs.pages import GROUPS, PAGES, DocsPage
from reference.docs.search import MAX_QUERY_LENGTH, SearchEntry, index_page, search

# Prices on the pages can change while the process runs.
_INDEX_SECONDS = 300
_MAX_RESULTS = 30
_SEARCH_PAGE = DocsPage("search-docs", "search/", "Search", "Find pages, error codes and fields.")


@login_not_required
@require_safe
def search_docs(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "")[:MAX_QUERY_LENGTH].strip()
    context = {
        "page": _SEARCH_PAGE,
        "groups": GROUPS,
        "query": query,
        "results": search(load_index(), query)[:_MAX_RESULTS],
    }
    return render(request, "docs/search.html", context)


def load_index() -> list[SearchEntry]:
    return _build_index(int(time.monotonic() // _INDEX_SECONDS))


@lru_cache(maxsize=1)
def _build_index(period: int) -> list[SearchEntry]:
    return [
        entry
        for page in PAGES
        for entry in index_page(
            reverse(page.view_name), page.title, page.summary, render_contents(page)
        )
    ]
