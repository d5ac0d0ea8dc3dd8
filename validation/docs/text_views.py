"""Serve the docs to programs: pages as Markdown, llms.txt, and the changelog as an Atom feed."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from accounts.templatetags.pages import ticks
from runtime.dates import midnight
from runtime.http.public_pages import public_page
from validation.docs.changelog import ENTRIES
from validation.docs.markdown import html_to_markdown
from validation.docs.page_context import build_context
from validation.docs.pages import GROUPS, Page


@login_not_required
@public_page
@require_safe
def show_markdown(request: HttpRequest, page: Page) -> HttpResponse:
    content = render_to_string(page.template, build_context(page), request)
    html = render_to_string("docs/markdown.html", {"page": page, "content": content})
    text = html_to_markdown(html, settings.BASE_URL + reverse(page.view_name))
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


@login_not_required
@public_page
@require_safe
def show_llms_txt(request: HttpRequest) -> HttpResponse:
    """Follow the format of https://llmstxt.org."""
    content_type = "text/plain; charset=utf-8"
    return render(request, "docs/llms.txt", {"groups": GROUPS}, content_type=content_type)


@login_not_required
@public_page
@require_safe
def show_changelog_feed(request: HttpRequest) -> HttpResponse:
    page_url = settings.BASE_URL + reverse("docs:show-changelog")
    feed = Atom1Feed(
        title="Email Validation changelog",
        link=page_url,
        description="What's new in the API, the dashboard, and the docs.",
        language="en",
        author_name="Email Validation",
        feed_url=settings.BASE_URL + request.path,
    )
    for entry in ENTRIES:
        url = f"{page_url}#{entry.id}"
        feed.add_item(
            title=entry.title,
            link=url,
            unique_id=url,
            description=ticks(entry.text),
            pubdate=midnight(entry.day),
            updateddate=midnight(entry.day),
            categories=[entry.area],
        )
    return HttpResponse(feed.writeString("utf-8"), content_type=feed.content_type)
