"""Show every docs page with one view, and as Markdown with another, and search them.

static/js/search.js suggests the first results.
"""

import time
from functools import lru_cache

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from apikeys.rest.reference import openapi_document
from reference.docs.changelog import read_changelog
from reference.docs.markdown import add_base_url, remove_attributes, split_sections, to_html
from reference.docs.page_context import render_contents
from reference.docs.pages import GROUPS, PAGES, DocsPage, neighbors
from reference.docs.search import MAX_QUERY_LENGTH, SearchEntry, index_page, search
from runtime.dates import midnight
from runtime.http.public_pages import public_page

# Prices on the pages can change while the process runs.
_INDEX_SECONDS = 300
_MAX_RESULTS = 30
_SEARCH_PAGE = DocsPage("search-docs", "search/", "Search", "Find pages, error codes and fields.")


@public_page
def show_page(request: HttpRequest, page: DocsPage) -> HttpResponse:
    introduction, sections = split_sections(render_contents(page))
    previous, following = neighbors(page)
    context = {
        "page": page,
        "introduction": to_html(introduction),
        "sections": sections,
        "groups": GROUPS,
        "previous": previous,
        "following": following,
    }
    return render(request, "docs/page.html", context)


@public_page
def show_markdown(request: HttpRequest, page: DocsPage) -> HttpResponse:
    return HttpResponse(_to_markdown(page), content_type="text/markdown; charset=utf-8")


def _to_markdown(page: DocsPage) -> str:
    return page.head + add_base_url(remove_attributes(render_contents(page)))


@public_page
def show_llms_txt(request: HttpRequest) -> HttpResponse:
    """Follow the format of https://llmstxt.org."""
    content_type = "text/plain; charset=utf-8"
    return render(request, "docs/llms.txt", {"groups": GROUPS}, content_type=content_type)


@public_page
def show_all_pages(request: HttpRequest) -> HttpResponse:
    """Show the docs as one text, without the changelog, which is longer than all other pages."""
    pages = (page for page in PAGES if page.name != "show-changelog")
    text = "\n".join(_to_markdown(page) for page in pages)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@public_page
def show_changelog_feed(request: HttpRequest) -> HttpResponse:
    page_url = settings.BASE_URL + reverse("docs:show-changelog")
    feed = Atom1Feed(
        title=f"{settings.PRODUCT_NAME} changelog",
        link=page_url,
        description="What's new in the API, the dashboard, and the docs.",
        language="en",
        author_name=settings.PRODUCT_NAME,
        feed_url=settings.BASE_URL + request.path,
    )
    for entry in read_changelog():
        url = f"{page_url}#{entry.id}"
        feed.add_item(
            title=entry.title,
            link=url,
            unique_id=url,
            description=to_html(add_base_url(entry.text)),
            pubdate=midnight(entry.day),
            updateddate=midnight(entry.day),
            categories=[entry.area],
        )
    return HttpResponse(feed.writeString("utf-8"), content_type=feed.content_type)


@public_page
def show_openapi_document(request: HttpRequest) -> HttpResponse:
    return HttpResponse(openapi_document(), content_type="application/json")


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
