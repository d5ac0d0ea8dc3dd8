"""allauth's URLs, with views in transactions and behind the second factor.

Views that hash passwords have no transaction: hashing is slow, and would block SQLite's writers.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

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


def atomic_post(view: View) -> View:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        with transaction.atomic():
            return view(request, *args, **kwargs)

    return wrapper


def remember_after_reset(view: View) -> View:
    """Remember the browser after a password reset, or strangers could lock it out."""

    @wraps(view)
    def wrapper(request: SiteRequest, *args: object, **kwargs: object) -> HttpResponse:
        response = cast(HttpResponse, view(request, *args, **kwargs))
        user = getattr(request, "password_reset_user", None)
        if user is not None:
            remember_browser(request, response, user)
        return response

    return cast(View, wrapper)


_proof, _proof_without_codes = factor_required(), factor_required(recovery_codes=False)
# The last decorator of a page runs first. Pages that show recovery codes accept none as proof.
DECORATORS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "account_login": (allow_providers,),
    "account_signup": (allow_providers,),
    "account_reset_password_from_key": (remember_after_reset,),
    "account_email": (atomic_post, _proof),
    "account_email_verification_sent": (atomic_post,),
    "account_change_password": (_proof,),
    "account_set_password": (reauthentication_required, _proof),
    "mfa_activate_totp": (atomic_post, _proof),
    "mfa_deactivate_totp": (atomic_post, _proof, keep_required_factor),
    "mfa_add_webauthn": (atomic_post, _proof),
    "mfa_edit_webauthn": (atomic_post, _proof),
    "mfa_remove_webauthn": (atomic_post, _proof, keep_required_factor),
    "mfa_generate_recovery_codes": (atomic_post, _proof_without_codes),
    "mfa_view_recovery_codes": (_proof_without_codes,),
    "mfa_download_recovery_codes": (_proof_without_codes,),
    "socialaccount_connections": (atomic_post, reauthentication_required, allow_providers, _proof),
}


def _decorate(patterns: list[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            _decorate(pattern.url_patterns)
            continue
        for decorator in DECORATORS.get(pattern.name or "", ()):
            pattern.callback = decorator(pattern.callback)
    return patterns


urlpatterns = _decorate(
    [
        path("", include("allauth.account.urls")),
        path("2fa/", include("allauth.mfa.urls")),
        path("sessions/", include("allauth.usersessions.urls")),
        path("", include("accounts.authentication.providers.pages")),
    ]
)
