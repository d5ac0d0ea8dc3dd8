from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apikeys.rest.reference import openapi_document
from runtime.http.public_pages import public_page


@login_not_required
@public_page
@require_safe
def show_openapi_document(request: HttpRequest) -> HttpResponse:
    return HttpResponse(openapi_document(), content_type="application/json")
