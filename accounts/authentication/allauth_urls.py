"""allauth's URLs, with its views wrapped in transactions and in the check for a second factor.

Views that hash a password run without a transaction: hashing is slow, and other writers of SQLite
would wait for it. accounts/authentication/failed_attempts.py saves a new password and its audit
entry in one transaction.
"""

from collections.abc import Callable
from functools import wraps
from typing import cast

from allauth.urls import urlpatterns as allauth_urlpatterns
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, URLResolver

from accounts.authentication.known_browsers import remember_browser
from accounts.authentication.second_factor.proof import factor_required
from accounts.authentication.second_factor.requirement import keep_required_factor
from accounts.request import SiteRequest

View = Callable[..., HttpResponseBase]

# A POST to these runs in one transaction, which includes the audit entry.
ATOMIC_VIEWS = {
    "account_email",
    "account_email_verification_sent",
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_generate_recovery_codes",
    "mfa_add_webauthn",
    "mfa_edit_webauthn",
    "mfa_remove_webauthn",
}
# These require a recent proof of the second factor, if the user has one. The value says whether a
# recovery code is accepted: yes on pages that replace a lost factor, no on pages that show or renew
# the recovery codes.
FACTOR_VIEWS = {
    "account_email": True,
    "account_change_password": True,
    "account_set_password": True,
    "mfa_activate_totp": True,
    "mfa_deactivate_totp": True,
    "mfa_add_webauthn": True,
    "mfa_edit_webauthn": True,
    "mfa_remove_webauthn": True,
    "mfa_view_recovery_codes": False,
    "mfa_download_recovery_codes": False,
    "mfa_generate_recovery_codes": False,
}
# These remove a factor.
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
    """Remember the browser in which a user resets their password, as after a sign-in.

    Otherwise strangers who try wrong passwords could keep the user from signing in afterwards.
    """

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
        if pattern.name in FACTOR_VIEWS:
            decorator = factor_required(recovery_codes=FACTOR_VIEWS[pattern.name])
            pattern.callback = decorator(pattern.callback)
        if pattern.name in REMOVAL_VIEWS:
            pattern.callback = keep_required_factor(pattern.callback)
    return patterns


urlpatterns = _wrap_views(allauth_urlpatterns)
