from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe


@login_not_required
@require_safe
@cache_control(public=True, max_age=3600)
def show_brand_mark(request: HttpRequest) -> HttpResponse:
    if not settings.BRAND_MARK:
        raise Http404
    return HttpResponse(settings.BRAND_MARK, content_type="image/svg+xml; charset=utf-8")
