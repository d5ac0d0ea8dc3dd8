from urllib.parse import urlsplit

from allauth.decorators import rate_limit
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.views import connections, signup
from django.conf import settings
from django.urls import URLPattern, path
from django.views.decorators.http import require_safe

from accounts.permissions import redirect_get_to
from runtime.http.form_targets import allow_forms_to


def _provider_origins() -> list[str]:
    classes = map(registry.get_class, settings.SOCIALACCOUNT_PROVIDERS)
    urls = [urlsplit(each.oauth2_adapter_class.authorize_url) for each in classes]
    return [f"{url.scheme}://{url.netloc}" for url in urls]


def _patterns(provider: str) -> list[URLPattern]:
    adapter = registry.get_class(provider).oauth2_adapter_class
    start = redirect_get_to("account_login")(OAuth2LoginView.adapter_view(adapter))
    finish = require_safe(OAuth2CallbackView.adapter_view(adapter))
    limit = rate_limit(action="provider", limit_get=True)
    return [
        path(f"{provider}/login/", start, name=f"{provider}_login"),
        path(f"{provider}/login/callback/", limit(finish), name=f"{provider}_callback"),
    ]


PROVIDERS = tuple(settings.SOCIALACCOUNT_PROVIDERS)
allow_providers = allow_forms_to(_provider_origins)

urlpatterns = [pattern for provider in PROVIDERS for pattern in _patterns(provider)]
if PROVIDERS:
    urlpatterns += [
        path("signup/provider/", signup, name="socialaccount_signup"),
        path("connections/", connections, name="socialaccount_connections"),
    ]
