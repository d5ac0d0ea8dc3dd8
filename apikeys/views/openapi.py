from django.http import HttpRequest, HttpResponse

from apikeys.rest.reference import openapi_document
from runtime.http.public_pages import public_page


@public_page
def show_openapi_document(request: HttpRequest) -> HttpResponse:
    return HttpResponse(openapi_document(), content_type="application/json")
