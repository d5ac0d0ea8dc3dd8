from django.urls import path

from reference.docs import views
from reference.docs.pages import PAGES

app_name = "docs"

urlpatterns = [
    *(path(page.path, views.show_page, {"page": page}, name=page.name) for page in PAGES),
    *(
        path(page.markdown_path, views.show_markdown, {"page": page}, name=f"{page.name}-markdown")
        for page in PAGES
    ),
    path("changelog.atom", views.show_changelog_feed, name="show-changelog-feed"),
    path("search/", views.search_docs, name="search-docs"),
    path("openapi.json", views.show_openapi_document, name="show-description"),
]
