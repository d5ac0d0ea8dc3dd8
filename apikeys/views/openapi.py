"""The OpenAPI document. The docs pages are in validation/docs, which may import everything."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apikeys.rest import reference
from runtime.http.public_pages import public_page


@login_not_required
@public_page
@require_safe
def show_openapi_document(request: HttpRequest) -> HttpResponse:
    return HttpResponse(reference.openapi_document(), content_type="application/json")
