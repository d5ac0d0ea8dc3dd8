"""The docs for machines. Those for people stand on the highest floor, which knows all of it."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apikeys.rest import reference


@login_not_required
@require_safe
def show_description(request: HttpRequest) -> HttpResponse:
    return HttpResponse(reference.description(), content_type="application/json")
