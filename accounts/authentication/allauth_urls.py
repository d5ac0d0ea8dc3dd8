"""allauth's URLs, with views in transactions and behind the second factor.

Views that hash passwords have no transaction: hashing is slow, and would block SQLite's writers.
"""

from collections.abc import Callable
from functools import wraps
from typing import cast

from allauth.account.decorators import reauthentication_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, URLResolver, include, path

from accounts.authentication.known_browsers import remember_browser
from accounts.authentication.providers.pages import allow_providers
from accounts.authentication.second_factor.proof import factor_required
from accounts.authentication.second_factor.requirement import keep_required_factor
from accounts.request import SiteRequest

View = Callable[..., HttpResponseBase]

ATOMIC_VIEWS = {
    "account_email",
    "account_email_verification_sent",
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_generate_recovery_codes",
    "mfa_add_webauthn",
    "mfa_edit_webauthn",
    "mfa_remove_webauthn",
    "socialaccount_connections",
}
# Whether each page accepts a recovery code as proof. Pages that show the codes don't.
FACTOR_VIEWS = {
    "account_email": True,
    "account_change_password": True,
    "account_set_password": True,
    "mfa_activate_totp": True,
    "mfa_deactivate_totp": True,
    "mfa_add_webauthn": True,
    "mfa_edit_webauthn": True,
    "mfa_remove_webauthn": True,
    "socialaccount_connections": True,
    "mfa_view_recovery_codes": False,
    "mfa_download_recovery_codes": False,
    "mfa_generate_recovery_codes": False,
}
CONFIRMED_VIEWS = {"account_set_password", "socialaccount_connections"}
FORM_VIEWS = {"account_login", "account_signup", "socialaccount_connections"}
REMOVAL_VIEWS = {"mfa_deactivate_totp", "mfa_remove_webauthn"}


def _atomic_post(view: View) -> View:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        with transaction.atomic():
            return view(request, *args, **kwargs)

    return wrapper


def _remembering_browser(view: View) -> View:
    """Remember the browser after a password reset, or strangers could lock it out."""

    @wraps(view)
    def wrapper(request: SiteRequest, *args: object, **kwargs: object) -> HttpResponse:
        response = cast(HttpResponse, view(request, *args, **kwargs))
        user = getattr(request, "password_reset_user", None)
        if user is not None:
            remember_browser(request, response, user)
        return response

    return cast(View, wrapper)


def _wrap_views(patterns: list[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            _wrap_views(pattern.url_patterns)
            continue
        if pattern.name in ATOMIC_VIEWS:
            pattern.callback = _atomic_post(pattern.callback)
        if pattern.name == "account_reset_password_from_key":
            pattern.callback = _remembering_browser(pattern.callback)
        if pattern.name in CONFIRMED_VIEWS:
            pattern.callback = reauthentication_required(pattern.callback)
        if pattern.name in FORM_VIEWS:
            pattern.callback = allow_providers(pattern.callback)
        if pattern.name in FACTOR_VIEWS:
            decorator = factor_required(recovery_codes=FACTOR_VIEWS[pattern.name])
            pattern.callback = decorator(pattern.callback)
        if pattern.name in REMOVAL_VIEWS:
            pattern.callback = keep_required_factor(pattern.callback)
    return patterns


urlpatterns = _wrap_views(
    [
        path("", include("allauth.account.urls")),
        path("2fa/", include("allauth.mfa.urls")),
        path("sessions/", include("allauth.usersessions.urls")),
        path("", include("accounts.authentication.providers.pages")),
    ]
)
