from django.urls import path

from apikeys.views import openapi
from validation.docs.pages import PAGES
from validation.docs.views import show_page

app_name = "docs"

urlpatterns = [
    *(path(page.path, show_page, {"page": page}, name=page.name) for page in PAGES),
    path("openapi.json", openapi.show_openapi_document, name="show-description"),
]
