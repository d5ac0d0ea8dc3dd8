from django.urls import path

from apikeys.views import docs
from validation.views import pages

app_name = "docs"

urlpatterns = [
    path("", pages.show_guide, name="show-guide"),
    path("api/", docs.show_reference, name="show-reference"),
    path("errors/", docs.show_errors, name="show-errors"),
    path("openapi.json", docs.show_description, name="show-description"),
]
