"""Compress public pages only: the length of others would reveal the CSRF token (BREACH)."""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe

View = Callable[..., HttpResponseBase]
Handler = Callable[[HttpRequest], HttpResponse]


def public_page(view: View) -> View:
    """Show everyone a page without a CSRF token, a message, or a user's name."""
    open_view = login_not_required(require_safe(view))
    open_view.is_public_page = True  # type: ignore[attr-defined]
    return open_view


class PublicPageMiddleware:
    """Must precede middleware that reads or changes content."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self._add_etag = ConditionalGetMiddleware(get_response).process_response
        self._compress = GZipMiddleware(get_response).process_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code != 200 or not _is_public(request, response):
            return response
        # A page names the stylesheets of its release.
        patch_cache_control(response, no_cache=True)
        patch_vary_headers(response, ["Accept-Encoding", "Cookie"])
        return self._compress(request, self._add_etag(request, response))


def _is_public(request: HttpRequest, response: HttpResponse) -> bool:
    match = request.resolver_match
    is_public_view = match is not None and getattr(match.func, "is_public_page", False)
    has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
    # Every page with a CSRF token sets its cookie.
    return is_public_view and not has_session and not response.cookies
