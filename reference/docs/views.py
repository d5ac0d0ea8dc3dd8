"""Show every docs page with one view, and as Markdown with another."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from reference.docs.changelog import read_changelog
from reference.docs.markdown import add_base_url, remove_attributes, split_sections, to_html
from reference.docs.page_context import render_contents
from reference.docs.pages import GROUPS, PAGES, DocsPage, neighbors
from runtime.dates import midnight
from runtime.http.public_pages import public_page


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
