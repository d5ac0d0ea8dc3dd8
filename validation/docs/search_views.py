"""Search the docs: a page that works without JavaScript, and the index for suggestions."""

import time
from dataclasses import asdict
from functools import lru_cache

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from runtime.http.public_pages import public_page
from validation.docs.page_context import build_context
from validation.docs.pages import GROUPS, PAGES, Page
from validation.docs.search import MAX_QUERY_LENGTH, Entry, index_page, search

# Plans and prices on the pages can change while the process runs.
_INDEX_SECONDS = 300
_MAX_RESULTS = 30
_SEARCH_PAGE = Page("search-docs", "search/", "Search", "Find pages, error codes and fields.")


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


@login_not_required
@public_page
@require_safe
def show_search_index(request: HttpRequest) -> JsonResponse:
    return JsonResponse([asdict(entry) for entry in load_index()], safe=False)


def load_index() -> list[Entry]:
    return _build_index(int(time.monotonic() // _INDEX_SECONDS))


@lru_cache(maxsize=1)
def _build_index(period: int) -> list[Entry]:
    """Build the index from the rendered pages, once per period."""
    return [entry for page in PAGES for entry in _index(page)]


def _index(page: Page) -> list[Entry]:
    context = {
        "base_url": settings.BASE_URL,
        "support_email": settings.SUPPORT_EMAIL,
        "currency": settings.CURRENCY,
    }
    content = render_to_string(page.template, {**context, **build_context(page)})
    return index_page(reverse(page.view_name), page.title, page.summary, content)
