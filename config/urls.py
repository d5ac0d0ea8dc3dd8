from django.conf import settings
from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.templatetags.static import static
from django.urls import include, path, re_path
from django.utils.functional import lazy
from django.views.generic import RedirectView

from apikeys.events.api import EventsView, OneEventView
from apikeys.rest.mcp.view import McpView
from apikeys.rest.routes import operation
from apikeys.rest.view import UnknownView
from apikeys.webhooks.urls import WEBHOOK_OPERATIONS
from config.brand_mark import show_brand_mark
from config.security_contact import show_security_contact
from credits.api import CreditsView, MeView
from lists.api.urls import LIST_OPERATIONS
from validation.account_domains.api import DomainsView
from validation.api import ValidateView
from validation.batches.api import ValidateBatchView
from validation.feedback.api import FeedbackView
from validation.reports.api import UsageView
from validation.results.api import ResultView

# config/apps.py leaves it to this module.
admin.autodiscover()

icon = RedirectView.as_view(url=settings.BRAND_MARK_URL or lazy(static, str)("favicon.svg"))


# config/health.py handles /healthz and /readyz.
urlpatterns = [
    # The most requested first.
    *operation("v1/validate", ValidateView),
    *operation("v1/validate/batch", ValidateBatchView),
    # Any text: a malformed id gets the same 404.
    *operation("v1/validations/<str:result_id>", ResultView),
    *operation("v1/validations/<str:result_id>/feedback", FeedbackView),
    *LIST_OPERATIONS,
    *operation("v1/mcp", McpView),
    *operation("v1/domains", DomainsView),
    *operation("v1/events", EventsView),
    *operation("v1/events/<str:event_id>", OneEventView),
    *WEBHOOK_OPERATIONS,
    *operation("v1/credits", CreditsView),
    *operation("v1/usage", UsageView),
    *operation("v1/me", MeView),
    path("v1", UnknownView.as_view()),
    re_path("^v1/", UnknownView.as_view()),
    path("", include("validation.urls")),
    path("", include("reference.urls")),
    path("lists/", include("lists.urls")),
    path("accounts/", include("accounts.urls")),
    # In place of allauth's index page.
    path("accounts/2fa/", RedirectView.as_view(pattern_name="accounts:show-security")),
    path("accounts/", include("accounts.authentication.allauth_urls")),
    path("apikeys/", include("apikeys.urls")),
    path("credits/", include("credits.urls")),
    path("admin/", admin.site.urls),
    path("docs/", include("reference.docs.urls")),
    path(".well-known/security.txt", show_security_contact),
    path("brand-mark.svg", show_brand_mark),
    path("favicon.ico", login_not_required(icon)),
]

handler400 = "config.errors.bad_request"
handler403 = "config.errors.permission_denied"
handler404 = "config.errors.not_found"
handler429 = "config.errors.too_many_attempts"
handler500 = "config.errors.server_error"
