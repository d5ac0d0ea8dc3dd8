"""The URL table."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.templatetags.static import static
from django.urls import include, path, re_path
from django.utils.functional import lazy
from django.views.generic import RedirectView

import config.lean_imports  # noqa: F401  (before the views)
from apikeys.rest.routes import operation
from apikeys.rest.view import UnknownView
from config.search_engines import show_robots, show_sitemap
from config.security_contact import show_security_contact
from credits.api import CreditsView, MeView
from validation.api import ValidateView
from validation.batches.api import ValidateBatchView
from validation.docs.text_views import show_llms_txt
from validation.domains.api import DomainsView
from validation.feedback.api import FeedbackView
from validation.lists.api.urls import LIST_OPERATIONS
from validation.reports.api import UsageView
from validation.results.api import ResultView

# The app's configuration leaves this to the URL table: config/apps.py.
admin.autodiscover()

icon = RedirectView.as_view(url=lazy(static, str)("favicon.svg"))


# HealthMiddleware in config/health.py handles /healthz and /readyz.
urlpatterns = [
    # The most requested paths come first.
    *operation("v1/validate", ValidateView),
    *operation("v1/validate/batch", ValidateBatchView),
    # Any text: a malformed id gets the same 404 as one that isn't stored.
    *operation("v1/validations/<str:result_id>", ResultView),
    *operation("v1/validations/<str:result_id>/feedback", FeedbackView),
    *LIST_OPERATIONS,
    *operation("v1/domains", DomainsView),
    *operation("v1/credits", CreditsView),
    *operation("v1/usage", UsageView),
    *operation("v1/me", MeView),
    path("v1", UnknownView.as_view()),
    re_path("^v1/", UnknownView.as_view()),
    path("", include("validation.urls")),
    path("accounts/", include("accounts.urls")),
    # Replaces allauth's index page.
    path("accounts/2fa/", RedirectView.as_view(pattern_name="accounts:show-security")),
    path("accounts/", include("accounts.authentication.allauth_urls")),
    path("apikeys/", include("apikeys.urls")),
    path("credits/", include("credits.urls")),
    path("admin/", admin.site.urls),
    path("docs/", include("validation.docs.urls")),
    path("llms.txt", show_llms_txt),
    path(".well-known/security.txt", show_security_contact),
    path("robots.txt", show_robots),
    path("sitemap.xml", show_sitemap, name="show-sitemap"),
    # Browsers request it on their own.
    path("favicon.ico", login_not_required(icon)),
]

handler400 = "config.errors.bad_request"
handler403 = "config.errors.permission_denied"
handler404 = "config.errors.not_found"
# allauth uses it.
handler429 = "config.errors.too_many_attempts"
handler500 = "config.errors.server_error"
