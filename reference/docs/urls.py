from django.urls import path

from apikeys.views import openapi
from reference.docs.pages import PAGES
from reference.docs.search_views import search_docs
from reference.docs.views import show_changelog_feed, show_markdown, show_page

app_name = "docs"

urlpatterns = [
    *(path(page.path, show_page, {"page": page}, name=page.name) for page in PAGES),
    *(
        path(page.markdown_path, show_markdown, {"page": page}, name=f"{page.name}-markdown")
        for page in PAGES
    ),
    path("changelog.atom", show_changelog_feed, name="show-changelog-feed"),
    path("search/", search_docs, name="search-docs"),
    path("openapi.json", openapi.show_openapi_document, name="show-description"),
]
