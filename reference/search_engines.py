"""robots.txt and sitemap.xml for search engines."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from reference.docs.pages import PAGES

PUBLIC_PAGES = (
    "reference:show-landing",
    "reference:find-domain",
    "reference:show-status",
    "reference:show-security",
    *(page.view_name for page in PAGES),
    "accounts:show-terms",
    "accounts:show-privacy",
    "accounts:show-data-processing",
)
# Below these paths, only PUBLIC_PAGES need no account or key.
_PRIVATE_PATHS = (
    *("/accounts/", "/admin/", "/apikeys/", "/credits/", "/lists/"),
    *("/reference/", "/v1/", "/validation/"),
)


def public_paths() -> list[str]:
    return [reverse(name) for name in PUBLIC_PAGES]


@login_not_required
@require_safe
def show_robots(request: HttpRequest) -> HttpResponse:
    allowed = [path for path in public_paths() if path.startswith(_PRIVATE_PATHS)]
    context = {"base_url": settings.BASE_URL, "allowed": allowed, "private": _PRIVATE_PATHS}
    return render(request, "robots.txt", context, content_type="text/plain; charset=utf-8")


@login_not_required
@require_safe
def show_sitemap(request: HttpRequest) -> HttpResponse:
    context = {"base_url": settings.BASE_URL, "paths": public_paths()}
    return render(request, "sitemap.xml", context, content_type="application/xml; charset=utf-8")
