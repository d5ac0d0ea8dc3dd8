"""Show every docs page with one view, and list its sections under "On this page"."""

import re
from html import unescape
from typing import NamedTuple

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.html import strip_tags
from django.views.decorators.http import require_safe

from runtime.http.public_pages import public_page
from validation.docs.page_context import build_context
from validation.docs.pages import GROUPS, Page, neighbors

_SECTION = re.compile(r'<section id="([\w.-]+)" class="docs-entry">\s*<h2>(.*?)</h2>', re.DOTALL)


class Section(NamedTuple):
    id: str
    title: str


@login_not_required
@public_page
@require_safe
def show_page(request: HttpRequest, page: Page) -> HttpResponse:
    content = render_to_string(page.template, build_context(page), request)
    previous, following = neighbors(page)
    context = {
        "page": page,
        "content": content,
        "sections": _find_sections(content),
        "groups": GROUPS,
        "previous": previous,
        "following": following,
    }
    return render(request, "docs/page.html", context)


def _find_sections(content: str) -> list[Section]:
    return [
        Section(name, unescape(strip_tags(title)).strip())
        for name, title in _SECTION.findall(content)
    ]
