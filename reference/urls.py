from django.urls import path

from reference.docs.views import show_llms_txt
from reference.landing import views
from reference.search_engines import show_robots, show_sitemap

app_name = "reference"

urlpatterns = [
    path("", views.show_landing, name="show-landing"),
    path("reference/try/", views.check_address, name="check-address"),
    path("llms.txt", show_llms_txt, name="show-llms"),
    path("robots.txt", show_robots, name="show-robots"),
    path("sitemap.xml", show_sitemap, name="show-sitemap"),
]
