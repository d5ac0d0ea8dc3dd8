from django.urls import path

from accounts.views.legal import show_legal_page
from reference.docs.views import show_all_pages, show_llms_txt
from reference.domains import show_domain
from reference.landing import opt_out, views
from reference.palette import search_dashboard
from reference.search_engines import show_robots, show_sitemap
from reference.status import show_status, show_status_feed

app_name = "reference"

urlpatterns = [
    path("", views.show_landing, name="show-landing"),
    path("reference/try/", views.check_address, name="check-address"),
    path("reference/search/", search_dashboard, name="search-dashboard"),
    path("reference/opt-out/", opt_out.ask_to_opt_out, name="ask-to-opt-out"),
    path("reference/opt-out/<str:token>/", opt_out.opt_out, name="opt-out"),
    path("domains/", show_domain, name="find-domain"),
    path("domains/<str:domain>.json", show_domain, {"is_json": True}, name="show-domain-json"),
    path("domains/<str:domain>", show_domain, name="show-domain"),
    path("status/", show_status, name="show-status"),
    path("status.json", show_status, {"is_json": True}, name="show-status-json"),
    path("status.atom", show_status_feed, name="show-status-feed"),
    path("security/", show_legal_page, {"template": "security"}, name="show-security"),
    path("llms.txt", show_llms_txt, name="show-llms"),
    path("llms-full.txt", show_all_pages, name="show-all-docs"),
    path("robots.txt", show_robots, name="show-robots"),
    path("sitemap.xml", show_sitemap, name="show-sitemap"),
]
